/**
 * The labels of invariants. The header of a file numbers its invariants, a letter and a number each, and the code cites
 * them in comments. A label belongs to its file: a bare citation means an invariant of the same file, and a citation
 * elsewhere names the file (`stepper/W2`), with its folder where several files have the name (`write/stepper/W2`).
 */
import ts from 'typescript-5';
import { lineAt, type Problem, parse, type Tree } from './tree.js';

const JUDGED = /^(packages\/[^/]+\/(src|test|bench)|conformance|scripts|examples)\/.+\.(ts|mjs)$/;

/** A line of a comment that begins with a label, two spaces and a text. */
const DEFINITION = /^(?:\/\*\*?|\/\/|[ \t]*\*)[ \t]*([A-Z]\d{1,2}) {2,}\S/gm;

/** A label by itself, or behind the name of the file that owns it. Hexadecimal text and versions are no labels. */
const CITATION = /(?<![\w/.+#-])((?:[a-z][a-z0-9.-]*\/)+)?([A-Z]\d{1,2})(?![\w/-]|\.\d)/g;

/** Words of the field that look like labels. */
const WORDS: ReadonlySet<string> = new Set(['V8']);

/** A label that is defined twice in a file, and a citation that leads to no definition. */
export function checkLabels(tree: Tree): readonly Problem[] {
  const files = [...tree.keys()].filter((file) => JUDGED.test(file)).sort();
  const labelled = files.map((file) => readLabels(tree, file));
  const owners = new Map(labelled.map(({ file, defined }) => [file, new Set(defined.map(({ label }) => label))]));
  return labelled.flatMap((one) => [...twice(one), ...astray(one, owners)]);
}

interface Place {
  readonly label: string;
  readonly line: number;
}

interface Citation extends Place {
  /** The name before the label: empty for an invariant of the same file. */
  readonly owner: string;
}

interface Labelled {
  readonly file: string;
  readonly defined: readonly Place[];
  readonly cited: readonly Citation[];
}

type Owners = ReadonlyMap<string, ReadonlySet<string>>;

function twice({ file, defined }: Labelled): readonly Problem[] {
  const seen = new Set<string>();
  return defined
    .filter(({ label }) => seen.size === seen.add(label).size)
    .map(({ label, line }) => ({
      file,
      line,
      what: `the label ${label} is defined twice in this file`,
      use: 'the next free number',
    }));
}

function astray({ file, cited }: Labelled, owners: Owners): readonly Problem[] {
  return cited.flatMap(({ owner, label, line }) => {
    if (owner === '') return owners.get(file)?.has(label) ? [] : [undefinedHere(file, line, label, owners)];
    const found = ownersNamed(owner, label, owners);
    if (found.length === 1) return [];
    const what = `${owner}/${label} names ${found.length === 0 ? 'no file that defines it' : 'several files'}`;
    return [{ file, line, what, use: found.length === 0 ? 'the name of its file' : 'the folder and the name' }];
  });
}

function undefinedHere(file: string, line: number, label: string, owners: Owners): Problem {
  const elsewhere = [...owners].filter(([other, labels]) => other !== file && labels.has(label));
  const nearest = elsewhere.map(([other]) => stem(other)).slice(0, 3);
  const use = nearest.length === 0 ? 'a label of the header' : `the file's name before it: ${nearest[0]}/${label}`;
  return { file, line, what: `the label ${label} is not defined in this file`, use };
}

/** The files that a name before a label can mean, among those that define the label. */
function ownersNamed(owner: string, label: string, owners: Owners): readonly string[] {
  return [...owners]
    .filter(([file, labels]) => labels.has(label) && `/${stem(file, true)}`.endsWith(`/${owner}`))
    .map(([file]) => file);
}

function stem(file: string, withFolders = false): string {
  const path = file.replace(/(\.test)?\.(ts|mjs)$/, '');
  return withFolders ? path : (path.split('/').at(-1) ?? path);
}

function readLabels(tree: Tree, file: string): Labelled {
  const text = tree.get(file) ?? '';
  const defined: Place[] = [];
  const cited: Citation[] = [];
  for (const { at, comment } of /[A-Z]\d/.test(text) ? commentsOf(parse(tree, file)) : []) {
    const definitions = new Set<number>();
    for (const found of comment.matchAll(DEFINITION)) {
      const label = found[1] ?? '';
      const offset = found.index + found[0].indexOf(label);
      definitions.add(offset);
      defined.push({ label, line: lineAt(text, at + offset) });
    }
    for (const { 1: owner = '', 2: label = '', index } of comment.matchAll(CITATION)) {
      if (definitions.has(index) || WORDS.has(label)) continue;
      cited.push({ owner: owner.slice(0, -1), label, line: lineAt(text, at + index) });
    }
  }
  return { file, defined, cited };
}

/** The text between the tokens of a file that holds a comment, with its offset. */
function commentsOf(source: ts.SourceFile): readonly { readonly at: number; readonly comment: string }[] {
  const found: { at: number; comment: string }[] = [];
  const walk = (node: ts.Node): void => {
    const inner = node.getChildren(source).filter((child) => !ts.isJSDoc(child));
    if (inner.length > 0) return inner.forEach(walk);
    const comment = source.text.slice(node.pos, node.getStart(source));
    if (comment.includes('//') || comment.includes('/*')) found.push({ at: node.pos, comment });
  };
  walk(source);
  return found;
}
