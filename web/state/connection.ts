/** The connection to the server that the page came from. */
import { signal } from "@preact/signals";

/** The trouble with the connection, or with the session that is followed, in words; undefined for none. */
export const connectionTrouble = signal<string | undefined>(undefined);
