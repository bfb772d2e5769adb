import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Name of a published object type (`Outer.Inner` for a nested one) -> its members, in order. */
export type PublishedTypes = ReadonlyMap<string, readonly string[]>;

/**
 * Every object type with named members that can stand in a request of a published package, found from its root type downwards:
 * unions are followed into each alternative, arrays into their elements. `file` is the declaration file, from node_modules on.
 */
export function publishedTypes(file: string, rootType: string): PublishedTypes {
  const path = fileURLToPath(new URL(`../../node_modules/${file}`, import.meta.url));
  const program = ts.createProgram([path], {
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  const root = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === rootType);
  if (root === undefined) throw new Error(`${file} exports no type ${rootType}`);
  const found = new Map<string, readonly string[]>();
  walk(checker, checker.getDeclaredTypeOfSymbol(root), found, new Set());
  return found;
}

function walk(checker: ts.TypeChecker, type: ts.Type, found: Map<string, readonly string[]>, seen: Set<ts.Type>): void {
  if (seen.has(type)) return;
  seen.add(type);
  if (type.isUnionOrIntersection()) {
    for (const part of type.types) walk(checker, part, found, seen);
    return;
  }
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    for (const element of checker.getTypeArguments(type as ts.TypeReference)) walk(checker, element, found, seen);
    return;
  }
  if ((type.flags & ts.TypeFlags.Object) === 0 || type.getCallSignatures().length > 0) return;
  const members = type.getProperties();
  if (members.length === 0) return;
  const name = qualifiedName(type.aliasSymbol ?? type.symbol);
  found.set(
    name,
    members.map((member) => member.name),
  );
  for (const member of members) walk(checker, checker.getTypeOfSymbol(member), found, seen);
}

/** Names of the enclosing namespaces and the type's own, joined by dots; an anonymous type has the name of the member that holds it. */
function qualifiedName(symbol: ts.Symbol): string {
  const names: string[] = [];
  let node: ts.Node | undefined = symbol.declarations?.[0];
  for (; node !== undefined && !ts.isSourceFile(node); node = node.parent) {
    const named = (node as Partial<ts.NamedDeclaration>).name;
    if (named !== undefined && ts.isIdentifier(named)) names.unshift(named.text);
  }
  return names.join('.');
}
