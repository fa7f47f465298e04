/** The available models: the embedded one, and those that a key or an address in the environment gives access to. */
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses } from 'reprise/providers';
import { reviewingRules } from './rules/model.js';

/** How a model is chosen and reached. */
export interface Reach {
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly pace: number;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The model of all agents.
 *
 * @throws TypeError with a message for the user that says what is missing
 */
export function modelOf({ model, baseUrl, pace, env }: Reach): ModelClient {
  const address = baseUrl ?? (model === undefined ? undefined : env.OPENAI_BASE_URL);
  if (model === undefined) {
    if (address !== undefined) throw new TypeError('with --base-url, name the model of the server: --model NAME');
    return reviewingRules(pace);
  }
  if (!/^[\w.:/@-]{1,128}$/.test(model)) throw new TypeError(`this is not the name of a model: ${model}`);
  if (address !== undefined) {
    if (!/^https?:\/\/\S+$/.test(address)) throw new TypeError(`this is not an http address: ${address}`);
    return openAiCompatible({ baseUrl: address, model, ...keyIn(env, 'OPENAI_API_KEY') });
  }
  if (model.startsWith('claude'))
    return anthropicMessages(model, { ...key(env, model, 'ANTHROPIC_API_KEY'), cache: '5m' });
  return openAiResponses(model, key(env, model, 'OPENAI_API_KEY'));
}

function keyIn(env: NodeJS.ProcessEnv, name: string) {
  return env[name] === undefined ? {} : { apiKey: { secret: name } };
}

function key(env: NodeJS.ProcessEnv, model: string, name: string) {
  if (env[name] === undefined) {
    throw new TypeError(
      `for the model ${model}, set ${name}, or give --base-url URL; without --model no key is needed`,
    );
  }
  return keyIn(env, name);
}

/** A secret from the environment, by name. */
export function secretsOf(env: NodeJS.ProcessEnv): (name: string) => Promise<string> {
  return async (name) => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
}
