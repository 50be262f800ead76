/** The best passages of all that recall read; their number is bounded. */

/** The message of a passage. */
export interface PassageDocument {
  readonly seq: number;
  readonly head: string;
  /** Lines of its body; known once it was read to its end. */
  count: number;
}

/** A line that answers the query, and its neighbours. */
export interface Passage {
  readonly document: PassageDocument;
  /** Its place in the body, from 0. */
  readonly line: number;
  readonly score: number;
  /** Place of the first of `lines`. */
  first: number;
  /** The line among its neighbours, as they are shown. */
  lines: readonly string[];
  /** Whether better ones took its place. */
  dropped: boolean;
}

type Rank = Pick<Passage, "score" | "line"> & { readonly document: Pick<PassageDocument, "seq"> };

/** A heap with the worst passage on top, which goes when a better one comes. */
export class BestPassages {
  readonly most: number;
  readonly #heap: Passage[] = [];

  constructor(most: number) {
    this.most = most;
  }

  /** Keeps a passage where it is among the best so far; undefined where it is not. */
  offer(document: PassageDocument, line: number, score: number): Passage | undefined {
    const [worst] = this.#heap;
    const full = this.#heap.length >= this.most;
    if (full && worst && compare({ document, line, score }, worst) > 0) return undefined;
    const passage: Passage = { document, line, score, first: line, lines: [], dropped: false };
    if (full && worst) {
      worst.dropped = true;
      this.#heap[0] = passage;
      this.#sink();
    } else {
      this.#heap.push(passage);
      this.#rise();
    }
    return passage;
  }

  /** All that are kept, the best first. */
  ordered(): readonly Passage[] {
    return this.#heap.toSorted(compare);
  }

  #rise(): void {
    const heap = this.#heap;
    let index = heap.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (compare(heap[index]!, heap[parent]!) <= 0) return;
      [heap[index], heap[parent]] = [heap[parent]!, heap[index]!];
      index = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) return;
      if (child + 1 < heap.length && compare(heap[child + 1]!, heap[child]!) > 0) child++;
      if (compare(heap[child]!, heap[index]!) <= 0) return;
      [heap[index], heap[child]] = [heap[child]!, heap[index]!];
      index = child;
    }
  }
}

/** Negative where the left one is better: by score, then the newer message, then the earlier line. */
function compare(left: Rank, right: Rank): number {
  return right.score - left.score || right.document.seq - left.document.seq || left.line - right.line;
}
