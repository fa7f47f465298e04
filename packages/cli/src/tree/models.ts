/** The models of a tree: rules without a key, or one that a key or an address gives access to. */
import { RepriseError } from '@reprise/contracts';
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses, withPrice } from '@reprise/providers';
import { RULES, rulesModel } from './rules/rules-model.js';

/** How the model of a tree is reached. */
export interface ModelChoice {
  readonly model: string;
  readonly baseUrl?: string;
  /** Dollars per million tokens of input and output. */
  readonly price?: { readonly in: number; readonly out: number };
}

/**
 * The model with a name.
 *
 * @throws RepriseError `invalid_argument` that says what is missing
 */
export function modelOf({ model, baseUrl, price }: ModelChoice, env: NodeJS.ProcessEnv): ModelClient {
  if (model === RULES) return price === undefined ? rulesModel() : withPrice(rulesModel(), price);
  if (!/^[\w.:/@-]{1,128}$/.test(model)) throw refused('this cannot be the name of a model', model);
  const priced = price === undefined ? {} : { price };
  const address = baseUrl ?? env.OPENAI_BASE_URL;
  if (address !== undefined) {
    if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
      throw refused('this is not an http address', address, '--base-url');
    return openAiCompatible({ baseUrl: address, model, ...keyIn(env, 'OPENAI_API_KEY'), ...priced });
  }
  const name = model.startsWith('claude') ? 'ANTHROPIC_API_KEY' : 'OPENAI_API_KEY';
  if (env[name] === undefined)
    throw new RepriseError('invalid_argument', `the model needs a key: ${name} is not set`, {
      where: '--model',
      actual: model,
      hint: `Set ${name}, give --base-url URL, or use --model ${RULES}, which needs no key.`,
    });
  const options = { ...keyIn(env, name), ...priced };
  return model.startsWith('claude')
    ? anthropicMessages(model, { ...options, cache: '5m' })
    : openAiResponses(model, options);
}

function keyIn(env: NodeJS.ProcessEnv, name: string) {
  return env[name] === undefined ? {} : { apiKey: { secret: name } };
}

function refused(what: string, actual: string, where = '--model'): RepriseError {
  return new RepriseError('invalid_argument', what, { where, actual });
}

/** A secret from the environment, by name. */
export function secretsOf(env: NodeJS.ProcessEnv): (name: string) => Promise<string> {
  return async (name) => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  };
}
