/** The module that `package.json#pi` names: pi's coding agent takes an extension as its default export. */
// oxlint-disable-next-line import/no-default-export -- pi looks for nothing else
export { piExtension as default } from "./extension.ts";
