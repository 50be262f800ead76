/** The sources as compiled by compile.ts, for child processes and for tests of the compiled package. */
import { inject } from "vitest";

/** Folder of the compiled modules. Its parent folder is laid out as the installed package is. */
export const dist: string = inject("dist");
