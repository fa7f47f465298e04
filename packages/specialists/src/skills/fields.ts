/** Checks the fields of front matter, in the form of the Agent Skills standard and in that of a single file. */
import { isTextWithin, lengthOfText } from '@reprise/contracts';
import { oneLine } from '@reprise/org/contracts';
import { SKILL_BOUNDS, SKILL_NAME } from '../pure/contracts/skills.js';
import type { SkillField, SkillProblem, SkillRule } from './skill.js';
import type { YamlEntries, YamlEntry, YamlText, YamlValue } from './yaml.js';

interface Fields {
  readonly name: string;
  readonly description: string;
  readonly triggers: readonly string[];
  readonly tools: readonly string[] | null;
  readonly model: string | null;
  readonly timeoutMs: number | null;
  readonly lines: Readonly<Partial<Record<SkillField, number>>>;
  /** Problems that make the file invalid. */
  readonly invalid: readonly SkillProblem[];
  /** Problems that keep a valid file from being spawned. */
  readonly unfit: readonly SkillProblem[];
  /** Fields that have no effect here. */
  readonly warnings: readonly SkillProblem[];
}

/** Reads the fields of a file. @param named the name of its folder or file, where it is known */
export function readFields(map: YamlEntries, form: 'standard' | 'seed', named: string | undefined): Fields {
  return new FieldReader(map, named).read(form);
}

/** The known keys of each form. */
const COMMON = ['name', 'description', 'license', 'compatibility', 'allowed-tools', 'metadata'] as const;
const KNOWN = { standard: COMMON, seed: [...COMMON, 'triggers', 'tools', 'model'] } as const;
/** The keys of `metadata` that mean something here. */
const META = ['reprise-triggers', 'reprise-tools', 'reprise-model', 'reprise-timeout'] as const;

const TOOL_NAME = /^[\w.:/-]{1,64}$/;
const MODEL_ALIAS = /^[\w.:/@-]{1,128}$/;

class FieldReader {
  readonly #invalid: SkillProblem[] = [];
  readonly #unfit: SkillProblem[] = [];
  readonly #warnings: SkillProblem[] = [];
  readonly #lines: Partial<Record<SkillField, number>> = {};

  constructor(
    private readonly map: YamlEntries,
    private readonly named: string | undefined,
  ) {}

  read(form: 'standard' | 'seed'): Fields {
    this.#noteUnknown(form);
    const name = this.#name();
    const description = this.#description();
    this.#compatibility();
    const own = form === 'seed' ? this.#seedFields() : this.#standardFields();
    return {
      name,
      description,
      ...own,
      lines: this.#lines,
      invalid: this.#invalid,
      unfit: this.#unfit,
      warnings: this.#warnings,
    };
  }

  /**
   * A field that is not known here has a meaning for another tool, and none here. A merge is a mistake: it would bring
   * fields that nobody sees.
   */
  #noteUnknown(form: 'standard' | 'seed'): void {
    const known: readonly string[] = KNOWN[form];
    for (const { key, line } of this.map.entries) {
      if (known.includes(key)) continue;
      const words = `the field ${JSON.stringify(key.slice(0, 40))} is not known`;
      const move = KNOWN.seed.some((one) => one === key) ? `${words} here: write metadata.reprise-${key}` : words;
      if (key === '<<') this.#invalid.push({ line, rule: 'unknown_key', message: words });
      else this.#warnings.push({ line, rule: 'unknown_key', message: `${move}, and has no effect` });
    }
  }

  #name(): string {
    const entry = this.#entry('name');
    if (entry === undefined || entry.value.kind !== 'text') return this.#missing('name', entry, 'name');
    const name = entry.value.text.trim();
    if (!SKILL_NAME.test(name)) this.#refuse(entry, 'name', `${JSON.stringify(name.slice(0, 80))} is not a skill name`);
    else if (this.named !== undefined && name !== this.named)
      this.#refuse(entry, 'name_differs', `the name is ${name}, but the folder or file is ${this.named.slice(0, 80)}`);
    return name;
  }

  #description(): string {
    const entry = this.#entry('description');
    if (entry === undefined || entry.value.kind !== 'text') return this.#missing('description', entry, 'description');
    const { text } = entry.value;
    if (text.trim() === '') this.#refuse(entry, 'description', 'the description is empty');
    if (!isTextWithin(text, SKILL_BOUNDS.description))
      this.#refuse(entry, 'description', `the description has ${lengthOfText(text)} characters`);
    return oneLine(text);
  }

  #compatibility(): void {
    const entry = this.#entry('compatibility');
    if (entry === undefined) return;
    const { value } = entry;
    if (value.kind !== 'text' || !value.isText) this.#refuse(entry, 'compatibility', 'compatibility is not a text');
    else if (!isTextWithin(value.text, SKILL_BOUNDS.compatibility))
      this.#refuse(entry, 'compatibility', `compatibility has ${lengthOfText(value.text)} characters`);
  }

  #seedFields() {
    const triggers = this.#entry('triggers');
    if (triggers === undefined) this.#invalid.push({ line: 1, rule: 'triggers', message: 'the triggers are missing' });
    const tools = this.#entry('tools');
    if (tools === undefined) this.#invalid.push({ line: 1, rule: 'tools_missing', message: 'the tools are missing' });
    const model = this.#entry('model');
    return {
      triggers: this.#triggers(triggers, this.#texts(triggers, 'triggers', this.#invalid), this.#invalid),
      tools: tools === undefined ? null : this.#tools(tools, this.#texts(tools, 'tools', this.#invalid), this.#invalid),
      model: this.#model(model, this.#invalid),
      timeoutMs: null,
    };
  }

  #standardFields() {
    const metadata = this.#entry('metadata');
    const meta = metadata?.value.kind === 'map' ? metadata.value.entries : [];
    if (metadata !== undefined && metadata.value.kind !== 'map')
      this.#unfit.push({ line: metadata.line, rule: 'metadata', message: `metadata is a ${metadata.value.kind}` });
    const known: readonly string[] = META;
    for (const { key, line } of meta)
      if (key.startsWith('reprise-') && !known.includes(key))
        this.#unfit.push({ line, rule: 'unknown_key', message: `${JSON.stringify(key.slice(0, 60))} is not known` });
    const found = (field: SkillField): YamlEntry | undefined => {
      const entry = meta.find(({ key }) => key === `reprise-${field}`);
      if (entry !== undefined) this.#lines[field] = entry.line;
      return entry;
    };
    const [triggers, tools, timeout] = [found('triggers'), found('tools'), found('timeout')];
    if (tools === undefined)
      this.#unfit.push({
        line: metadata?.line ?? 1,
        rule: 'tools_missing',
        message: 'metadata.reprise-tools is missing: name the tools, or write "" for none',
      });
    return {
      triggers: this.#triggers(triggers, this.#split(triggers, 'triggers', ';'), this.#unfit),
      tools: tools === undefined ? null : this.#tools(tools, this.#split(tools, 'tools', /\s+/), this.#unfit),
      model: this.#model(found('model'), this.#unfit),
      timeoutMs: this.#timeout(timeout),
    };
  }

  #triggers(entry: YamlEntry | undefined, found: readonly YamlText[], into: SkillProblem[]): readonly string[] {
    const triggers = found.map(({ text }) => oneLine(text));
    for (const [i, trigger] of triggers.entries())
      if (trigger === '' || !isTextWithin(trigger, SKILL_BOUNDS.trigger))
        into.push({
          line: found[i]?.line ?? 1,
          rule: 'triggers',
          message: trigger === '' ? 'a trigger is empty' : `a trigger has ${lengthOfText(trigger)} characters`,
        });
    if (triggers.length > SKILL_BOUNDS.triggers)
      into.push({ line: entry?.line ?? 1, rule: 'triggers', message: `there are ${triggers.length} triggers` });
    return triggers;
  }

  #tools(entry: YamlEntry, found: readonly YamlText[], into: SkillProblem[]): readonly string[] {
    const tools = found.map(({ text }) => text.trim());
    for (const [i, tool] of tools.entries()) {
      const line = found[i]?.line ?? entry.line;
      if (!TOOL_NAME.test(tool))
        into.push({ line, rule: 'tools', message: `${JSON.stringify(tool.slice(0, 80))} is not a tool name` });
      else if (tools.indexOf(tool) < i) into.push({ line, rule: 'tools', message: `${tool} stands twice` });
    }
    if (tools.length > SKILL_BOUNDS.tools)
      into.push({ line: entry.line, rule: 'tools', message: `there are ${tools.length} tools` });
    return tools;
  }

  #model(entry: YamlEntry | undefined, into: SkillProblem[]): string | null {
    if (entry === undefined) return null;
    const model = entry.value.kind === 'text' ? entry.value.text.trim() : '';
    if (!MODEL_ALIAS.test(model))
      into.push({ line: entry.line, rule: 'model', message: 'this is not the alias of a model' });
    return model;
  }

  #timeout(entry: YamlEntry | undefined): number | null {
    if (entry === undefined) return null;
    const text = entry.value.kind === 'text' ? entry.value.text.trim() : '';
    const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (seconds >= 1 && seconds <= SKILL_BOUNDS.timeout_seconds) return seconds * 1_000;
    this.#unfit.push({
      line: entry.line,
      rule: 'timeout',
      message: `${JSON.stringify(text.slice(0, 40))} is not a number of seconds from 1 to ${SKILL_BOUNDS.timeout_seconds}`,
    });
    return null;
  }

  /** The texts of a list. */
  #texts(entry: YamlEntry | undefined, rule: SkillRule, into: SkillProblem[]): readonly YamlText[] {
    if (entry === undefined) return [];
    const { value, line } = entry;
    if (value.kind !== 'list') {
      into.push({ line, rule, message: `${rule} is a ${value.kind}: write a list, as [one, two]` });
      return [];
    }
    for (const item of value.items)
      if (item.kind !== 'text')
        into.push({ line: item.line, rule, message: `a ${item.kind} stands where a text belongs` });
    return value.items.filter(isText);
  }

  /** The parts of one text, which metadata of the standard holds. */
  #split(entry: YamlEntry | undefined, rule: SkillRule, by: string | RegExp): readonly YamlText[] {
    if (entry === undefined) return [];
    const { value, line } = entry;
    if (value.kind !== 'text') {
      this.#unfit.push({ line, rule, message: `${entry.key} is a ${value.kind}: metadata holds texts` });
      return [];
    }
    const parts = value.text.split(by).filter((part) => part.trim() !== '');
    return parts.map((text) => ({ kind: 'text', text, isText: true, line: value.line }));
  }

  #entry(key: string): YamlEntry | undefined {
    const entry = this.map.entries.find((one) => one.key === key);
    if (entry !== undefined) this.#lines[key as SkillField] = entry.line;
    return entry;
  }

  #missing(rule: SkillRule, entry: YamlEntry | undefined, field: string): string {
    const message =
      entry === undefined ? `the ${field} is missing` : `the ${field} is a ${entry.value.kind}, not a text`;
    this.#invalid.push({ line: entry?.line ?? 1, rule, message });
    return '';
  }

  #refuse({ line }: YamlEntry, rule: SkillRule, message: string): void {
    this.#invalid.push({ line, rule, message });
  }
}

function isText(value: YamlValue): value is YamlText {
  return value.kind === 'text';
}
