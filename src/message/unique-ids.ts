/** Ids that are unique in one session: the wanted id when it is free, else a numbered copy. */
export class UniqueIds {
  /** The ids in use, each with the number of its next copy. */
  readonly #taken = new Map<string, number>();
  #next = 1;

  /** @param wanted - the host's id; absent gives `m1`, `m2` … */
  take(wanted?: string): string {
    let id = wanted ?? this.#numbered();
    while (this.#taken.has(id)) id = wanted === undefined ? this.#numbered() : this.#copyOf(wanted);
    this.#taken.set(id, 2);
    return id;
  }

  #numbered(): string {
    return `m${this.#next++}`;
  }

  #copyOf(id: string): string {
    const copy = this.#taken.get(id) ?? 2;
    this.#taken.set(id, copy + 1);
    return `${id}#${copy}`;
  }
}
