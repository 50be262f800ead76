/** Sessions that are trees: a retry or an edited prompt starts a new branch, and the newest branch is the session. */

/** One line of a tree. */
export interface BranchNode {
  readonly id?: string | undefined;
  /** The line it continues: an id, null for a root; undefined continues the line before it. */
  readonly parent?: string | null | undefined;
}

/**
 * The lines of the branch that the last line ends, by index, in the order of the file. A parent that is missing (or
 * would make a circle) counts as the line before, so that one lost line never hides the history behind it.
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
