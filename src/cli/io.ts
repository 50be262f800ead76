/** The streams and the environment that commands read and write. */

/** A stream a command writes to. */
export interface CliStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The streams, the environment and the clock of a command; `process` fits. */
export interface CliIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds by which progress is shown. Default: the process's clock. */
  readonly now?: () => number;
  /** Errors are told with their stack and causes, and commands log what they do. Default false. */
  readonly debug?: boolean;
}
