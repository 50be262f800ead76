/** What `package.json#pi` names: pi's coding agent takes an extension as the default export of a module. */
// oxlint-disable-next-line import/no-default-export -- pi looks for nothing else
export { piExtension as default } from "./extension.ts";
