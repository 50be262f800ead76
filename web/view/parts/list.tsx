/** A list that draws only what is in view, over virtua. */
import type { ComponentType, JSX, Ref } from "preact";
import { VList } from "virtua";
import type { VListHandle } from "virtua";

/** The means to scroll a list. */
export type ListHandle = VListHandle;

/** The properties of a list. */
export interface ListProps<Item> {
  readonly handle?: Ref<ListHandle>;
  readonly data: ArrayLike<Item>;
  /** The height of every item in pixels; absent where items differ. */
  readonly itemSize?: number;
  /** Pixels that are drawn outside of the view. */
  readonly bufferSize: number;
  readonly class: string;
  readonly id: string;
  readonly role: "listbox" | "list";
  readonly label: string;
  readonly active?: string | undefined;
  readonly onFocus?: () => void;
  readonly onLeave?: () => void;
  /** Called with the pixels above the view whenever these change, whoever scrolled. */
  readonly onScroll?: (offset: number) => void;
  readonly children: (item: Item, index: number) => JSX.Element;
}

// The list is written for React, whose types of references differ from Preact's.
const Virtual = VList as unknown as ComponentType<Record<string, unknown>>;

/** A list of items in view. */
export function List<Item>(props: ListProps<Item>): JSX.Element {
  const { handle, data, itemSize, bufferSize, id, role, label, active, onFocus, onLeave, onScroll, children } = props;
  return (
    <Virtual
      {...(handle && { ref: handle })}
      data={data}
      {...(itemSize !== undefined && { itemSize })}
      bufferSize={bufferSize}
      className={props.class}
      id={id}
      role={role}
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={active}
      onFocusCapture={onFocus}
      onMouseLeave={onLeave}
      onScroll={onScroll}
    >
      {children}
    </Virtual>
  );
}
