/** UI dumps in JSON: accessibility trees, lists of elements, DOM snapshots. */
import { fieldsOf, isObject, parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue as Json } from "../../message/message.ts";
import { isActing, isRole } from "./element.ts";
import type { UiDump, UiElement } from "./element.ts";

const keys = (names: string): readonly string[] => names.split(" ");

const roleKeys = keys("role AXRole controlType elementType tagName tag nodeName className class type");
const nameKeys = keys(
  "name title label AXTitle AXDescription AXLabel ariaLabel aria-label text textContent innerText contentDescription " +
    "content-desc placeholder alt description",
);
const idKeys = keys(
  "ref uid elementId element_id nodeId node_id backendNodeId bid AXIdentifier identifier resource-id resourceId id index " +
    "selector xpath",
);
const valueKeys = keys("value AXValue checkedValue");
/** Each with the keys that say it. */
const states = {
  focused: keys("focused AXFocused active"),
  checked: keys("checked"),
  selected: keys("selected AXSelected"),
  expanded: keys("expanded AXExpanded"),
  disabled: keys("disabled"),
  pressed: keys("pressed"),
};
const actionKeys = keys("clickable isClickable interactive isInteractive focusable onclick editable");
const placeKeys = keys("center position frame bounds rect");
/** Objects that are no parts of the screen. */
const noParts = new Set([...placeKeys, ...keys("boundingBox AXPosition AXFrame attributes style")]);

/** The dump in a JSON text, comments and trailing commas allowed, or undefined where it is none. */
export function readJsonTree(text: string): UiDump | undefined {
  const value = parseLoose(text);
  if (value === undefined) return undefined;
  const roots: UiElement[] = [];
  const found = { elements: 0, objects: 0 };
  collect(value, "", roots, found);
  // JSON that only happens to have a `type` or a `name` somewhere is data.
  if (found.elements < 2 || found.elements * 4 < found.objects) return undefined;
  return { roots, about: isObject(value) ? aboutLines(value) : [] };
}

/** Whether an object is an element of a dump: it has a role that a platform knows. */
export function isElement(value: unknown): value is JsonObject {
  return isObject(value) && roleOf(value) !== "";
}

/** A JSON text as a value; comments and commas before a bracket are forgiven. Undefined where it is no object or list. */
export function parseLoose(text: string): Json | undefined {
  if (!/^\s*(?:\/\/[^\n]*\n\s*)*[[{]/.test(text)) return undefined;
  const whole = parseJson(text);
  if (whole !== undefined) return whole as Json;
  if (!/\/\/|,\s*[\]}]/.test(text)) return undefined;
  const keepStrings = (match: string): string => (match.startsWith('"') ? match : "");
  const bare = text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*/g, keepStrings);
  return parseJson(bare.replaceAll(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[\]}])/g, keepStrings)) as Json | undefined;
}

/** Deeper than any screen; a tree nested further is cut off there. */
const deepest = 400;

function collect(
  value: Json,
  key: string,
  into: UiElement[],
  found: { elements: number; objects: number },
  depth = 0,
): void {
  if (depth > deepest) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) collect(item, "", into, found, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  found.objects++;
  const role = roleOf(value);
  if (role === "") {
    for (const [name, item] of Object.entries(value))
      if (!noParts.has(name)) collect(item, name, into, found, depth + 1);
    return;
  }
  found.elements++;
  const children: UiElement[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (item !== null && typeof item === "object" && !noParts.has(name))
      collect(item, name, children, found, depth + 1);
  }
  const name = firstText(value, nameKeys);
  const id = idOf(value, key);
  const given = firstText(value, valueKeys);
  into.push({
    role,
    name,
    ...(id !== undefined && { id }),
    ...(given !== "" && given !== name && { value: given }),
    states: statesOf(value),
    interactive: isActing(role) || actionKeys.some((action) => isOn(value[action])) || hasActions(value),
    children,
  });
}

function roleOf(fields: JsonObject): string {
  for (const key of roleKeys) {
    const value = fields[key];
    if (typeof value === "string" && isRole(value)) return value;
  }
  return "";
}

/** By an id of its own, by the property it stands under (`AXCloseButton`), or by its place. */
function idOf(fields: JsonObject, key: string): string | undefined {
  for (const name of idKeys) {
    const value = fields[name];
    if ((typeof value === "string" && value !== "" && value.length <= 120) || typeof value === "number")
      return `${value}`;
  }
  if (/^AX[A-Z]\w+$/.test(key)) return key;
  const { x, y } = fieldsOf(placeKeys.map((name) => fields[name]).find((place) => place !== undefined));
  return typeof x === "number" && typeof y === "number" ? `@${x},${y}` : undefined;
}

function firstText(fields: JsonObject, keys: readonly string[]): string {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim().replaceAll(/\s+/g, " ");
    if (typeof value === "number" && valueKeys.includes(key)) return `${value}`;
  }
  return "";
}

function statesOf(fields: JsonObject): readonly string[] {
  const enabled = fields["enabled"] ?? fields["AXEnabled"] ?? fields["isEnabled"];
  const isOff = enabled === false || enabled === 0 || enabled === "false";
  return Object.entries(states).flatMap(([state, names]) =>
    names.some((name) => isOn(fields[name])) || (isOff && state === "disabled") ? [state] : [],
  );
}

function isOn(value: Json | undefined): boolean {
  return value === true || value === 1 || value === "true";
}

function hasActions(fields: JsonObject): boolean {
  const actions = fields["actions"] ?? fields["AXActionNames"];
  return (Array.isArray(actions) && actions.length > 0) || typeof fields["href"] === "string";
}

const aboutKey = /^(?:AX|page|window|document|app)?_?(?:title|url|document|app(?:lication)?|appName|package)$/i;

function aboutLines(fields: JsonObject): readonly string[] {
  const lines: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value !== "string" || value.trim() === "" || !aboutKey.test(key)) continue;
    if (lines.length < 4) lines.push(`${key}: ${value.trim().slice(0, 200)}`);
  }
  return lines;
}
