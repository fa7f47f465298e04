/**
 * The model `rules` for teams: written rules in place of a neural network, for all roles. The coordinator hands out a
 * survey, then a plan, then its tasks; specialists truly read the folder by their tools. It decides from the conversation
 * alone, so after a crash it goes on.
 */
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { folderIn } from '../../tree/rules/folder.js';
import { callsOf } from '../../tree/rules/reading.js';
import { counted, RULES } from '../../tree/rules/rules-model.js';
import { findings, listing, looks, wasLookedInto } from '../../tree/rules/survey.js';
import { coordinate } from './coordinator.js';
import { plan } from './planner.js';

/** A model of fixed rules, with which a team works without a provider. */
export function teamRules(): ModelClient {
  const model = scriptBy((request) => counted(request, nextStep(request)));
  return { ...model, profile: { ...model.profile, profile_id: RULES, model_default: RULES, provider: RULES } };
}

/** The model's answer to a request. Pure. */
function nextStep(request: ScriptRequest): ScriptStep {
  const tools = new Set(request.tools);
  if (tools.has('spawn_agent')) return coordinate(request);
  if (tools.has('plan_write')) return plan(request);
  return tools.has('list_files') ? read(request) : write(request);
}

/** A specialist that reads the folder: lists its part, looks into it, and reports. */
function read({ messages, tools }: ScriptRequest): ScriptStep {
  const calls = callsOf(messages);
  const task = messages.find(({ role }) => role === 'user')?.text ?? '';
  const place = { path: /^Folder: (.+)$/m.exec(task)?.[1] ?? '.', filesOnly: false };
  const question = /^Question: (.+)$/m.exec(task)?.[1] ?? task.replace(/^#.*$/gm, '').trim().slice(0, 400);
  if (!calls.some(({ tool }) => tool === 'list_files'))
    return { text: `I look at ${place.path}.`, calls: [listing(place)] };
  const folder = folderIn(calls);
  if (!folder.listed) return { text: `I could not list \`${place.path}\`.` };
  const able = looks(place, folder, question).filter(({ tool }) => tools.includes(tool));
  if (!wasLookedInto(calls) && !calls.some(({ tool }) => tool === 'read_file') && able.length > 0)
    return { text: 'I look into it.', calls: able };
  return { text: asResult(findings(place, folder, question)) };
}

/** The first line is the summary, the rest the details. */
function asResult(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  return rest.length === 0 ? first : `${first}\n\n${rest.join('\n')}`;
}

/** A specialist without tools: one report of what it was handed. */
function write({ messages }: ScriptRequest): ScriptStep {
  const text = messages
    .filter(({ role }) => role === 'user')
    .map((one) => one.text)
    .join('\n');
  const question = /^Question: (.+)$/m.exec(text)?.[1] ?? 'The task';
  const heads = [...text.matchAll(/^`[^`\n]+`: [^\n]+$/gm)].map(([line]) => line);
  const files = [...new Set([...text.matchAll(/^- `[^`\n]+` \([^\n]+$/gm)].map(([line]) => line))];
  const summary = `${question}: ${heads.length} parts were looked at, ${files.length} files are described.`;
  return {
    text: [summary, '', ...heads.map((line) => `- ${line}`), ...(files.length === 0 ? [] : ['', ...files])].join('\n'),
  };
}
