/** UI dumps: the elements of a screen or a page in one form, recognised by structure and not by the tool's name. */
import { fieldsOf, isObject, parseJson } from "../../message/json.ts";
import { ownText } from "../../message/message.ts";
import type { JsonObject, JsonValue as Json, ToolResultPart } from "../../message/message.ts";

/** One element of a screen or a page. */
export interface UiElement {
  /** In the platform's own words: `AXButton`, `link`, `a`. Empty for a wrapper that has none. */
  readonly role: string;
  /** The text that a user reads or hears of it. */
  readonly name: string;
  /** By what the next call can name it; absent where the dump gives it none. */
  readonly id?: string;
  /** The text in a field, the choice of a list. */
  readonly value?: string;
  /** `focused`, `disabled`, `checked` …, as far as the dump says. */
  readonly states: readonly string[];
  /** Whether a user can act on it. */
  readonly interactive: boolean;
  readonly children: readonly UiElement[];
}

/** A dump: its elements, and what it says of the screen as a whole. */
export interface UiDump {
  readonly roots: readonly UiElement[];
  /** Lines that say which screen it is: title, address. */
  readonly about: readonly string[];
}

/** Roles on which a user acts, in the words of ARIA, HTML, macOS, Android and UI Automation; lower case, without `AX`. */
const acting = new Set(
  (
    "a button checkbox closebutton colorwell combobox datefield disclosuretriangle edit edittext gridcell hyperlink " +
    "imagebutton incrementor input link listbox menubaritem menubutton menuitem menuitemcheckbox menuitemradio option " +
    "popupbutton radio radiobutton searchbox searchfield securetextfield select slider spinbutton spinner splitbutton " +
    "summary switch tab tabitem textarea textbox textfield toggle togglebutton treeitem"
  ).split(" "),
);

/** Roles that only say where things stand. */
const standing = new Set(
  (
    "alert application article aside banner body cell column complementary contentinfo dialog div document element " +
    "figure footer form framelayout generic grid group header heading h1 h2 h3 h4 h5 h6 html iframe image img label " +
    "layoutarea linearlayout list listitem main menu menubar nav navigation none outline p pane paragraph presentation " +
    "progressbar progressindicator radiogroup region relativelayout row rowgroup rowheader columnheader rootwebarea " +
    "scrollarea scrollbar scrollview search section separator sheet span splitgroup splitter statictext status " +
    "statusbar strong tabgroup table tablist tabpanel td text textview th toolbar tooltip tr tree ul ol li " +
    "unknown view viewgroup webarea window"
  ).split(" "),
);

/** A role in one form: lower case, without the platform's prefix (`AXButton`, `android.widget.Button`). */
export function plainRole(role: string): string {
  const last = /^[a-z]+(?:\.[A-Za-z]+)+$/.test(role) ? role.slice(role.lastIndexOf(".") + 1) : role;
  return last.replace(/^AX(?=[A-Z])/, "").toLowerCase();
}

/** Whether a word is a role of some platform. */
export function isRole(role: string): boolean {
  const plain = plainRole(role);
  return acting.has(plain) || standing.has(plain) || /^AX[A-Z]/.test(role);
}

/** Whether a user acts on elements of a role. */
export function isActing(role: string): boolean {
  return acting.has(plainRole(role));
}

/** All elements, in the order of the dump. */
export function* elementsOf(roots: readonly UiElement[]): Generator<UiElement> {
  const open = roots.toReversed();
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    for (let index = next.children.length - 1; index >= 0; index--) {
      const child = next.children[index];
      if (child) open.push(child);
    }
  }
}

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

interface Open extends UiElement {
  name: string;
  readonly children: UiElement[];
}

/**
 * The dump in bracket notation, or undefined where it is none: `<` opens an element, `tag[ID]|` says what it is, text
 * follows, `>` closes. Only what a user can act on has an id.
 */
export function readBrackets(text: string): UiDump | undefined {
  if (!/<\w+\[\w+\]\|/.test(text)) return undefined;
  const root = start("", undefined);
  const open = [root];
  for (const match of text.matchAll(/<(?:([\w-]+)?(?:\[(\w+)\])?\|)?(?=\s|>|$)|>(?=\s|>|$)|[^\s<>]+|[<>]/g)) {
    const [token, tag = "", id] = match;
    const inner = open.at(-1) ?? root;
    if (token === ">") {
      if (open.length > 1) open.pop();
    } else if (token === "<" || (token.startsWith("<") && token.endsWith("|"))) {
      const element = start(tag, id);
      inner.children.push(element);
      open.push(element);
    } else inner.name += inner.name === "" ? token : ` ${token}`;
  }
  return { roots: root.children, about: [] };
}

function start(role: string, id: string | undefined): Open {
  return { role, name: "", ...(id !== undefined && { id }), states: [], interactive: id !== undefined, children: [] };
}

/** Longest text that is read as a dump, in characters: what is longer is data. */
const longestDump = 4_000_000;

/** The dump a text holds, or undefined where it is none. */
export function readUiTree(text: string): UiDump | undefined {
  if (text.length < 40 || text.length > longestDump) return undefined;
  return readJsonTree(text) ?? readBrackets(text);
}

const known = new WeakMap<ToolResultPart, readonly string[] | false>();

/** Whether a result is a dump of a screen or a page; read once for as long as it lives. */
export function isUiDump(result: ToolResultPart): boolean {
  return screenOf(result) !== undefined;
}

/** The lines by which a dump says which screen it is of; undefined where the result is no dump. */
export function screenOf(result: ToolResultPart): readonly string[] | undefined {
  let screen = known.get(result);
  if (screen === undefined) known.set(result, (screen = readUiTree(ownText(result) ?? "")?.about ?? false));
  return screen || undefined;
}
