/** The elements of a screen or a page in one form, and the words of the platforms that have names for them. */

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
