/** The available models: the embedded one, and those that a key or an address in the environment gives access to. */
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses } from 'reprise/providers';
import { isAddress } from './arguments.js';
import { EMBEDDED, embeddedModel } from './demo/fixer.js';

/** How models are reached. */
export interface Reach {
  readonly baseUrl: string | undefined;
  readonly price?: { readonly in: number; readonly out: number } | undefined;
  readonly window?: number | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the model with a name.
 *
 * @throws TypeError with a message for the user that says what is missing
 */
export function modelNamed(name: string, { baseUrl, env, price, window }: Reach): ModelClient {
  if (name === EMBEDDED) return embeddedModel();
  if (!/^[\w.:/@-]{1,128}$/.test(name)) throw new TypeError(`this is not the name of a model: ${name}`);
  const known = {
    ...(price === undefined ? {} : { price }),
    ...(window === undefined ? {} : { profile: { context_window_hint: window } }),
  };
  const address = baseUrl ?? env.OPENAI_BASE_URL;
  if (address !== undefined) {
    if (!isAddress(address)) throw new TypeError(`this is not an http address: ${address}`);
    return openAiCompatible({ baseUrl: address, model: name, ...keyIn(env, 'OPENAI_API_KEY'), ...known });
  }
  if (name.startsWith('claude')) {
    if (env.ANTHROPIC_API_KEY === undefined) throw missing(name, 'ANTHROPIC_API_KEY');
    return anthropicMessages(name, { ...keyIn(env, 'ANTHROPIC_API_KEY'), cache: '5m', ...known });
  }
  if (env.OPENAI_API_KEY === undefined) throw missing(name, 'OPENAI_API_KEY');
  return openAiResponses(name, { ...keyIn(env, 'OPENAI_API_KEY'), ...known });
}

function keyIn(env: NodeJS.ProcessEnv, name: string) {
  return env[name] === undefined ? {} : { apiKey: { secret: name } };
}

function missing(model: string, key: string): TypeError {
  return new TypeError(`for the model ${model}, set ${key}, or give --base-url URL; the embedded one is ${EMBEDDED}`);
}

/** A secret from the environment, by name. */
export function secretsOf(env: NodeJS.ProcessEnv): (name: string) => Promise<string> {
  return async (name) => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
}
