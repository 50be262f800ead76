/** Names of src/mask that tests use and no door exports. */
export { onRuleFailure } from "../../../src/mask/failures.ts";
export { maskJson, maskRecord } from "../../../src/mask/mask.ts";
export { knownSecrets, maskText, mayHoldSecret, secretRules } from "../../../src/mask/text.ts";
