/** The JavaScript of a TypeScript file, line by line as it stands: types are cut out of the text, nothing else changes. */
import ts from "typescript";

/** @returns the text without its types; what stays may have spaces and blank lines too many */
export function withoutTypes(text) {
  const source = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest, true);
  const cuts = [];
  const cut = (from, to) => void cuts.push([from, to]);
  const visit = (node) => {
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || isTypeImport(node)) {
      return cut(node.getFullStart(), node.end);
    }
    if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node)) {
      cut(node.expression.end, node.end);
      return visit(node.expression);
    }
    for (const list of [node.typeParameters, node.typeArguments]) if (list) cut(list.pos - 1, list.end + 1);
    // A type stands behind its colon, and before that perhaps a question mark.
    if (node.type && (ts.isFunctionLike(node) || ts.isVariableLike(node))) cut(node.type.pos - 1, node.type.end);
    if (node.questionToken && ts.isVariableLike(node)) cut(node.questionToken.pos, node.questionToken.end);
    for (const modifier of node.modifiers ?? []) {
      if (typeModifiers.has(modifier.kind)) cut(modifier.getStart(), modifier.end);
    }
    ts.forEachChild(node, (child) => {
      if (!ts.isTypeNode(child) || ts.isExpressionWithTypeArguments(child)) visit(child);
    });
  };
  ts.forEachChild(source, visit);
  let rest = text;
  for (const [from, to] of cuts.sort(([left], [right]) => right - left)) rest = rest.slice(0, from) + rest.slice(to);
  return rest;
}

const { OverrideKeyword, PrivateKeyword, PublicKeyword, ReadonlyKeyword } = ts.SyntaxKind;
const typeModifiers = new Set([OverrideKeyword, PrivateKeyword, PublicKeyword, ReadonlyKeyword]);

function isTypeImport(node) {
  return ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true;
}
