/**
 * Words that nothing in this repository uses, with what to write instead: in names, comments, messages, titles, pages.
 * They were private words for things that the field has names for, or phrases that a reader had to decode.
 */
import { lineAt, type Problem, type Tree } from './tree.js';

/** A word or phrase that is refused, how it is found, and its replacement. */
export interface RefusedWord {
  readonly word: string;
  readonly finds: RegExp;
  readonly use: string;
}

/** The table. A word that also has a good meaning does not belong here: that is a reader's judgment. */
export const REFUSED_WORDS: readonly RefusedWord[] = [
  { word: 'twin', finds: inNames('twin', 's?'), use: 'mutant, negative test, or control' },
  { word: 'mend', finds: inNames('mend', '(?:s|ed|er|ing)?'), use: 'fix' },
  { word: 'capsule', finds: inNames('capsule', 's?'), use: 'sandbox' },
  { word: 'how-manieth', finds: inNames('manieth', ''), use: 'generation, or the number' },
  { word: 'whoever', finds: inNames('whoever', ''), use: 'the noun: the caller, the owner, the reader' },
  {
    word: 'somebody',
    finds: inNames('somebody', ''),
    use: 'the noun: a caller, another process, a person, an attacker',
  },
  { word: 'someone', finds: inNames('someone', ''), use: 'the noun: a caller, another process, a person, an attacker' },
  { word: 'rival', finds: inNames('rival', 's?'), use: 'comparison, other systems' },
  {
    word: 'is none',
    finds: phrase('(?:is|are|was|were|be) none'),
    use: 'what it is not: "is not a frame", "is empty"',
  },
  { word: 'perform again', finds: phrase('perform(?:s|ed|ing)? again'), use: 'replay' },
];

/** Files whose words are data, the files that have to name these words, and the table that is made of titles. */
const NOT_OURS =
  /^(?:package-lock\.json|LICENSE|CHANGELOG\.md|docs\/spec\/tests\.md|scripts\/architecture\/words\.ts|scripts\/test\/words\.test\.ts)$/;

/** Every use of a refused word, in the texts of the repository and in the names of its files. */
export function checkWords(tree: Tree): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [file, text] of tree) {
    if (NOT_OURS.test(file)) continue;
    for (const { word, finds, use } of REFUSED_WORDS) {
      if (file.search(finds) >= 0) problems.push({ file, line: 1, what: `the name of the file says "${word}"`, use });
      for (const { index } of text.matchAll(finds)) {
        problems.push({ file, line: lineAt(text, index), what: `"${word}"`, use });
      }
    }
  }
  return problems;
}

/** Finds a word by itself and as a part of a name: `twin`, `openTwin`, `open-twin`, `TWINS`; not `contextWindow`. */
function inNames(stem: string, endings: string): RegExp {
  const [first = '', rest] = [stem[0]?.toUpperCase(), stem.slice(1)];
  const shouted = `(?<![A-Z])${stem.toUpperCase()}${endings.toUpperCase()}(?![A-Z])`;
  return new RegExp(`(?:(?<![A-Za-z])${stem}|${first}${rest})${endings}(?![a-z])|${shouted}`, 'g');
}

/** Finds words that follow each other, also over the end of a line and over what begins a line of a comment. */
function phrase(words: string): RegExp {
  return new RegExp(`\\b${words.replaceAll(' ', '\\s+(?:(?:\\*|//|>)\\s+)?')}\\b`, 'gi');
}
