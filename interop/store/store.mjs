/** For the processes that the crash cases kill. */
export { openStore as open } from "windrow/store";
