/** The rules of the report: one text of all findings that stand in the results it was given. */
import type { ScriptStep } from 'reprise/providers';
import { type Conversation, plural } from './conversation.js';

interface Reported {
  readonly severity: string;
  readonly place: string;
  readonly message: string;
  readonly quoted: string;
}

const FINDING = /^- \*\*(high|medium|low)\*\* `([^`]+:\d+)` — (.*)(?:\n {2}> (.*))?$/gm;
const LOOKED = /^Looked at \((\w+)\): (.*)$/gm;
const AREA = /^\S+ findings? in (.+?)\. ?/gm;

/** The answer of the one who reports. */
export function report({ asked }: Conversation): ScriptStep {
  const found = new Map<string, Reported>();
  for (const [, severity = '', place = '', message = '', quoted = ''] of asked.matchAll(FINDING))
    found.set(`${place} ${message}`, { severity, place, message, quoted });
  const all = [...found.values()];
  const of = (severity: string) => all.filter((one) => one.severity === severity);
  const counts = ['high', 'medium', 'low'].map((severity) => `${of(severity).length} ${severity}`).join(', ');
  const areas = [...asked.matchAll(AREA)].map(([, area = '']) => area);
  const looked = [...asked.matchAll(LOOKED)].map(
    ([, skill, what], i) => `- ${skill}, ${areas[i] ?? 'the repository'}: ${what}`,
  );
  const sections = ['high', 'medium', 'low'].flatMap((severity) => sectionOf(severity, of(severity)));
  const name = /Review the repository ([^:\n]+):/.exec(asked)?.[1] ?? 'the repository';
  return {
    text: [
      `# Review of ${name}`,
      '',
      `${plural(all.length, 'finding').replace(/^no/, 'No')}: ${counts}.`,
      '',
      ...sections,
      '## What was looked at',
      '',
      ...looked,
    ].join('\n'),
  };
}

function sectionOf(severity: string, findings: readonly Reported[]): readonly string[] {
  if (findings.length === 0) return [];
  const title = severity.charAt(0).toUpperCase() + severity.slice(1);
  const lines = findings.flatMap(({ place, message, quoted }) => [
    `- \`${place}\` — ${message}`,
    ...(quoted === '' ? [] : [`  > ${quoted}`]),
  ]);
  return [`## ${title}`, '', ...lines, ''];
}
