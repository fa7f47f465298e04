/** Which models there are: the embedded one, and whatever a key or an address in the environment makes reachable. */
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { isAddress } from './arguments.js';
import { EMBEDDED, embeddedModel } from './demo/mender.js';

/** Where models are asked for. */
export interface Reach {
  readonly baseUrl: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/**
 * The model of a name.
 *
 * @throws TypeError with what is missing, as the user reads it
 */
export function modelNamed(name: string, { baseUrl, env }: Reach): ModelClient {
  if (name === EMBEDDED) return embeddedModel();
  if (!/^[\w.:/@-]{1,128}$/.test(name)) throw new TypeError(`this is not the name of a model: ${name}`);
  const address = baseUrl ?? env.OPENAI_BASE_URL;
  if (address !== undefined && !isAddress(address)) throw new TypeError(`this is not an http address: ${address}`);
  if (address === undefined && env.OPENAI_API_KEY === undefined) {
    throw new TypeError(
      `for the model ${name}, set OPENAI_API_KEY, or give --base-url URL; the embedded model is called ${EMBEDDED}`,
    );
  }
  const auth = env.OPENAI_API_KEY === undefined ? {} : { apiKey: { secret: 'OPENAI_API_KEY' } };
  return openAiCompatible({ baseUrl: address ?? OPENAI_BASE_URL, model: name, ...auth });
}

/** A secret of the environment, by name. */
export function secretsOf(env: NodeJS.ProcessEnv): (name: string) => Promise<string> {
  return async (name) => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
}
