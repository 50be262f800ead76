/** The callbacks of ADK's plug-ins that Windrow takes no part in: ADK calls every one of them on every plug-in. */

const unused = [
  "onUserMessageCallback",
  "afterRunCallback",
  "beforeAgentCallback",
  "afterAgentCallback",
  "beforeNodeCallback",
  "afterNodeCallback",
  "onModelErrorCallback",
  "beforeToolSelection",
  "beforeContextCompaction",
  "afterContextCompaction",
  "onToolErrorCallback",
] as const;

/** Callbacks that answer nothing, so that ADK goes on as without them. */
export type UnusedCallbacks = {
  readonly [Name in (typeof unused)[number]]: (given: object) => Promise<undefined>;
};

class Callbacks {
  constructor() {
    for (const name of unused) Object.defineProperty(this, name, { value: async () => undefined });
  }
}

/** A class with every unused callback. */
export const PluginBase = Callbacks as new () => UnusedCallbacks;
