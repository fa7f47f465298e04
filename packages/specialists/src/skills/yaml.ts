/**
 * Reads front matter: YAML 1.2 core, without anchors, aliases, tags and directives, with unique keys.
 *
 * Invariants
 * Y1  Nothing is evaluated and no object is made from keys: a map is a list of entries.
 * Y2  Tokens are looked at, without recursion, before anything is composed: what is refused there is never expanded.
 * Y3  Every problem has the line of the file at which it stands.
 */
import { Composer, type CST, isMap, isScalar, isSeq, LineCounter, type Node, Parser, type YAMLMap } from 'yaml';
import { SKILL_BOUNDS } from '../pure/contracts/skills.js';
import { FRONT_MATTER_LINE } from './front-matter.js';
import type { SkillProblem, SkillRule } from './skill.js';

/** A scalar: its text as written; of a quoted or block scalar the text that it means. */
export interface YamlText {
  readonly kind: 'text';
  readonly text: string;
  /** Whether YAML reads it as a text: not as a number, a truth value or nothing. */
  readonly isText: boolean;
  readonly line: number;
}

interface YamlList {
  readonly kind: 'list';
  readonly items: readonly YamlValue[];
  readonly line: number;
}

/** A map, as its entries (Y1). */
export interface YamlEntries {
  readonly kind: 'map';
  readonly entries: readonly YamlEntry[];
  readonly line: number;
}

/** An entry of a map. */
export interface YamlEntry {
  readonly key: string;
  readonly line: number;
  readonly value: YamlValue;
}

/** A value of the front matter. */
export type YamlValue = YamlText | YamlList | YamlEntries;

/** Reads front matter as a map, or says what is wrong. */
export function readYaml(text: string): YamlEntries | readonly SkillProblem[] {
  return new Reading(text).read();
}

/** Whether front matter could not be read: then these are its problems. */
export function isProblems(read: YamlEntries | readonly SkillProblem[]): read is readonly SkillProblem[] {
  return Array.isArray(read);
}

class Reading {
  readonly #lines = new LineCounter();
  readonly #problems: SkillProblem[] = [];

  constructor(private readonly text: string) {}

  read(): YamlEntries | readonly SkillProblem[] {
    const tokens = [...new Parser(this.#lines.addNewLine).parse(this.text)];
    for (const token of tokens) this.#inspect(token); // Y2
    if (this.#problems.length > 0) return this.#problems;
    const options = { version: '1.2', schema: 'core', merge: false, uniqueKeys: true, strict: true } as const;
    const documents = [...new Composer(options).compose(tokens, true, this.text.length)];
    for (const { errors } of documents)
      for (const { code, pos, message } of errors) {
        const rule = code === 'DUPLICATE_KEY' ? 'yaml_key' : 'yaml';
        this.#add(pos[0], rule, message);
      }
    const contents = documents[0]?.contents ?? null;
    if (documents.length !== 1 || contents === null) {
      if (this.#problems.length === 0) this.#add(0, 'yaml_map', 'the front matter is empty, or more than one text');
      return this.#problems;
    }
    const value = this.#value(contents as Node);
    if (this.#problems.length > 0) return this.#problems;
    if (value.kind === 'map') return value;
    this.#add(0, 'yaml_map', `the front matter is a ${value.kind}, not a map`);
    return this.#problems;
  }

  /** Refuses anchors, aliases, tags, directives and deep nesting, from tokens alone. */
  #inspect(first: CST.Token): void {
    const rest: { readonly token: CST.Token | CST.SourceToken; readonly depth: number }[] = [
      { token: first, depth: 0 },
    ];
    for (let next = rest.pop(); next !== undefined && this.#problems.length < MOST; next = rest.pop()) {
      const { token, depth } = next;
      this.#refuse(token);
      if (depth > SKILL_BOUNDS.nesting) {
        this.#add(offsetOf(token), 'yaml_nesting', `nested more than ${SKILL_BOUNDS.nesting} deep`);
        return;
      }
      for (const part of partsOf(token)) rest.push({ token: part, depth: depth + (isCollection(part) ? 1 : 0) });
    }
  }

  #refuse(token: CST.Token | CST.SourceToken): void {
    const at = offsetOf(token);
    if (token.type === 'anchor' || token.type === 'alias')
      this.#add(at, 'yaml_alias', `${token.type === 'anchor' ? 'an anchor' : 'an alias'}: write the value out`);
    if (token.type === 'tag') this.#add(at, 'yaml_tag', 'a tag: values are texts, lists and maps');
    if (token.type === 'directive' || token.type === 'directive-line')
      this.#add(at, 'yaml_tag', 'a directive: the front matter is YAML 1.2 as it is');
  }

  #value(node: Node | null): YamlValue {
    const line = this.#lineAt(node?.range?.[0] ?? 0);
    if (isMap(node)) return { kind: 'map', entries: this.#entries(node as YAMLMap<Node, Node | null>), line };
    if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => this.#value(item as Node)), line };
    if (!isScalar(node)) return { kind: 'text', text: '', isText: false, line };
    const { value, type, source } = node;
    const text = type === 'PLAIN' || value === null ? (source ?? '') : String(value);
    return { kind: 'text', text, isText: typeof value === 'string', line };
  }

  #entries(map: YAMLMap<Node, Node | null>): readonly YamlEntry[] {
    const entries: YamlEntry[] = [];
    for (const { key, value } of map.items) {
      const name = this.#value(key);
      if (name.kind !== 'text' || name.text === '__proto__')
        this.#add(key.range?.[0] ?? 0, 'yaml_key', 'this cannot be a key');
      else entries.push({ key: name.text, line: name.line, value: this.#value(value) });
    }
    return entries;
  }

  #add(offset: number, rule: SkillRule, message: string): void {
    const said = message.replace(/\s+/g, ' ').slice(0, 200);
    if (this.#problems.length < MOST) this.#problems.push({ line: this.#lineAt(offset), rule, message: said });
  }

  #lineAt(offset: number): number {
    return Math.max(1, this.#lines.linePos(offset).line) + FRONT_MATTER_LINE - 1;
  }
}

/** The problems that one reading lists. */
const MOST = 32;

type AnyToken = CST.Token | CST.SourceToken;

function offsetOf(token: AnyToken): number {
  return 'offset' in token ? token.offset : 0;
}

function isCollection({ type }: AnyToken): boolean {
  return type === 'block-map' || type === 'block-seq' || type === 'flow-collection';
}

/** The tokens directly inside a token. */
function partsOf(token: AnyToken): readonly AnyToken[] {
  const parts: AnyToken[] = [];
  const add = (found: readonly AnyToken[] | AnyToken | null | undefined): void => {
    if (Array.isArray(found)) parts.push(...found);
    else if (found !== null && found !== undefined) parts.push(found as AnyToken);
  };
  if ('start' in token && Array.isArray(token.start)) add(token.start);
  if ('props' in token) add(token.props);
  if ('value' in token && typeof token.value === 'object') add(token.value);
  if ('end' in token && Array.isArray(token.end)) add(token.end);
  if ('items' in token)
    for (const item of token.items) {
      add(item.start);
      add(item.key);
      add(item.sep);
      add(item.value);
    }
  return parts;
}
