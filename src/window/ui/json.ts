/** UI dumps in JSON: accessibility trees, lists of elements, DOM snapshots. */
import { parseJson } from "../../message/json.ts";
import type { JsonObject, JsonValue as Json } from "../../message/message.ts";
import { isActing, isRole } from "./element.ts";
import type { UiDump, UiElement } from "./element.ts";

type Fields = JsonObject;

const roleKeys = [
  "role",
  "AXRole",
  "controlType",
  "elementType",
  "tagName",
  "tag",
  "nodeName",
  "className",
  "class",
  "type",
];
const nameKeys = [
  "name",
  "title",
  "label",
  "AXTitle",
  "AXDescription",
  "AXLabel",
  "ariaLabel",
  "aria-label",
  "text",
  "textContent",
  "innerText",
  "contentDescription",
  "content-desc",
  "placeholder",
  "alt",
  "description",
];
const idKeys = [
  "ref",
  "uid",
  "elementId",
  "element_id",
  "nodeId",
  "node_id",
  "backendNodeId",
  "bid",
  "AXIdentifier",
  "identifier",
  "resource-id",
  "resourceId",
  "id",
  "index",
  "selector",
  "xpath",
];
const valueKeys = ["value", "AXValue", "checkedValue"];
const stateKeys: Readonly<Record<string, string>> = {
  focused: "focused",
  AXFocused: "focused",
  active: "focused",
  checked: "checked",
  selected: "selected",
  AXSelected: "selected",
  expanded: "expanded",
  AXExpanded: "expanded",
  disabled: "disabled",
  pressed: "pressed",
};
const actionKeys = ["clickable", "isClickable", "interactive", "isInteractive", "focusable", "onclick", "editable"];
const placeKeys = ["position", "center", "frame", "bounds", "rect", "boundingBox", "AXPosition", "AXFrame"];

/** The dump in a JSON text, comments and trailing commas allowed, or undefined where it is none. */
export function readJsonTree(text: string): UiDump | undefined {
  const value = parseLoose(text);
  if (value === undefined) return undefined;
  const roots: UiElement[] = [];
  const found = { elements: 0, objects: 0 };
  collect(value, "", roots, found);
  // JSON that only happens to have a `type` or a `name` somewhere is data.
  if (found.elements < 2 || found.elements * 4 < found.objects) return undefined;
  return { roots, about: isFields(value) ? aboutLines(value) : [] };
}

/** Whether an object is an element of a dump: it has a role that a platform knows. */
export function isElement(value: unknown): value is Fields {
  return isFields(value as Json) && roleOf(value as Fields) !== "";
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
  if (!isFields(value)) return;
  found.objects++;
  const role = roleOf(value);
  if (role === "") {
    for (const [name, item] of Object.entries(value)) if (!isNoPart(name)) collect(item, name, into, found, depth + 1);
    return;
  }
  found.elements++;
  const children: UiElement[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (item !== null && typeof item === "object" && !isNoPart(name)) collect(item, name, children, found, depth + 1);
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

/** Places and sizes are objects too, and no parts of the screen. */
function isNoPart(key: string): boolean {
  return placeKeys.includes(key) || key === "attributes" || key === "style";
}

function roleOf(fields: Fields): string {
  for (const key of roleKeys) {
    const value = fields[key];
    if (typeof value === "string" && isRole(value)) return value;
  }
  return "";
}

/** By an id of its own, by the property it stands under (`AXCloseButton`), or by its place. */
function idOf(fields: Fields, key: string): string | undefined {
  for (const name of idKeys) {
    const value = fields[name];
    if ((typeof value === "string" && value !== "" && value.length <= 120) || typeof value === "number")
      return `${value}`;
  }
  if (/^AX[A-Z]\w+$/.test(key)) return key;
  const place = fields["center"] ?? fields["position"] ?? fields["frame"] ?? fields["bounds"] ?? fields["rect"];
  if (place !== undefined && isFields(place)) {
    const { x, y } = place;
    if (typeof x === "number" && typeof y === "number") return `@${x},${y}`;
  }
  return undefined;
}

function firstText(fields: Fields, keys: readonly string[]): string {
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim().replaceAll(/\s+/g, " ");
    if (typeof value === "number" && valueKeys.includes(key)) return `${value}`;
  }
  return "";
}

function statesOf(fields: Fields): readonly string[] {
  const states = Object.entries(stateKeys).flatMap(([key, state]) => (isOn(fields[key]) ? [state] : []));
  const enabled = fields["enabled"] ?? fields["AXEnabled"] ?? fields["isEnabled"];
  if (enabled === false || enabled === 0 || enabled === "false") states.push("disabled");
  return [...new Set(states)];
}

function isOn(value: Json | undefined): boolean {
  return value === true || value === 1 || value === "true";
}

function hasActions(fields: Fields): boolean {
  const actions = fields["actions"] ?? fields["AXActionNames"];
  return (Array.isArray(actions) && actions.length > 0) || typeof fields["href"] === "string";
}

const aboutKey = /^(?:AX|page|window|document|app)?_?(?:title|url|document|app(?:lication)?|appName|package)$/i;

function aboutLines(fields: Fields): readonly string[] {
  const lines: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value !== "string" || value.trim() === "" || !aboutKey.test(key)) continue;
    if (lines.length < 4) lines.push(`${key}: ${value.trim().slice(0, 200)}`);
  }
  return lines;
}

function isFields(value: Json): value is Fields {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
