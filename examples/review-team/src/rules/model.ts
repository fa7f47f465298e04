/**
 * The embedded model: written rules in place of a neural network. It is the coordinator, the planner, every reviewer and
 * the writer of the report, as its prompt and its tools say. It truly searches and reads the files.
 */
import { type ModelClient, type ScriptRequest, type ScriptStep, scriptBy } from 'reprise/providers';
import { type Conversation, readConversation } from './conversation.js';
import { coordinate } from './coordinator.js';
import { plan } from './planner.js';
import { report } from './report.js';
import { review } from './reviewer.js';

/** Characters of a request that count as one token. */
const TOKEN_CHARACTERS = 4;

/**
 * Makes the model.
 *
 * @param pace how long an answer takes, in milliseconds
 */
export function reviewingRules(pace: number): ModelClient {
  const model = scriptBy((request) => {
    const step = nextStep(readConversation(request));
    // A pause stands in the middle of a text.
    const text = pace === 0 ? step.text : (step.text ?? 'I look.');
    return {
      ...step,
      ...(text === undefined ? {} : { text }),
      ...(pace === 0 ? {} : { delayMs: pace }),
      usage: usageOf(request, step),
    };
  });
  return { ...model, profile: { ...model.profile, profile_id: 'rules', model_default: 'rules', provider: 'rules' } };
}

/** The answer to a conversation. Pure. */
export function nextStep(conversation: Conversation): ScriptStep {
  const { skill, tools } = conversation;
  if (tools.has('spawn_agent')) return coordinate(conversation);
  if (tools.has('plan_write')) return plan(conversation);
  if (skill === 'report') return report(conversation);
  return review(conversation);
}

function usageOf({ system, messages }: ScriptRequest, { text = '', calls = [] }: ScriptStep) {
  const read = messages.reduce((sum, message) => sum + message.text.length, system.length);
  const written = text.length + JSON.stringify(calls).length;
  return { tokens_in: Math.ceil(read / TOKEN_CHARACTERS), tokens_out: Math.ceil(written / TOKEN_CHARACTERS) };
}
