/** Sessions that are trees: a retry or an edited prompt starts a branch, and the newest branch is the session. */

/** One line of a tree of messages. */
export interface BranchNode {
  readonly id?: string | undefined;
  /** The line it continues: an id, null for a root, undefined for the line before. */
  readonly parent?: string | null | undefined;
}

/**
 * The indices of the last line's branch, in file order. A parent that is missing or would form a circle counts as the
 * line before, so that one lost line never hides the earlier history.
 */
export function branchOfLastLeaf(nodes: readonly BranchNode[]): ReadonlySet<number> {
  const byId = new Map<string, number>();
  nodes.forEach((node, index) => {
    if (node.id !== undefined && !byId.has(node.id)) byId.set(node.id, index);
  });
  const branch = new Set<number>();
  let index = nodes.length - 1;
  while (index >= 0) {
    branch.add(index);
    const parent = nodes[index]?.parent;
    if (parent === null) break;
    const found = parent === undefined ? undefined : byId.get(parent);
    index = found !== undefined && !branch.has(found) ? found : lineBefore(index, branch);
  }
  return new Set([...branch].sort((left, right) => left - right));
}

function lineBefore(index: number, taken: ReadonlySet<number>): number {
  let before = index - 1;
  while (before >= 0 && taken.has(before)) before--;
  return before;
}
