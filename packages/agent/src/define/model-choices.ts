/** The model options of an agent, as authors write them and as they are recorded. */
import {
  expectedIn,
  hintOf,
  isFields,
  kindOfThing,
  type ModelOptions,
  modelOptions,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { putValue } from '@reprise/kernel/store';

/** The options of a model call. */
export interface ModelChoices {
  /** The largest number of tokens in one answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly toolChoice?: string;
  readonly reasoningEffort?: 'low' | 'medium' | 'high';
  /** Texts at which the model stops. */
  readonly stop?: readonly string[];
  /** Data about the call for the provider, such as a user's id in a form that reveals no person. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Fields of the provider's own request, passed on unchanged. */
  readonly provider?: Readonly<Record<string, Value>>;
  /** A response format in the provider's own form. */
  readonly responseFormat?: Value;
}

/**
 * Refuses model options that no model call can carry.
 *
 * @throws RepriseError `invalid_definition`
 */
export function requireModelChoices(choices: ModelChoices, where: string): void {
  if (!isFields(choices)) {
    throw new RepriseError('invalid_definition', 'invalid option "options"', {
      where: `${where} options`,
      expected: 'an object, such as { maxTokens: 1000 }',
      actual: kindOfThing(choices),
    });
  }
  const { provider: _, responseFormat: __, ...plain } = choices;
  const unknown = Object.keys(plain).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) {
    throw new RepriseError('invalid_definition', `unknown option "${unknown}" of a model`, {
      where: `${where} options`,
      expected: [...Object.keys(FIELDS), 'provider', 'responseFormat'].join(', '),
      actual: unknown,
      ...hintOf(unknown, FIELDS),
    });
  }
  const checked = modelOptions.safeParse(recorded(plain));
  if (checked.success) return;
  const { path = [], message = '' } = checked.error.issues[0] ?? {};
  const name = Object.entries(FIELDS).find(([, field]) => field === path[0])?.[0] ?? String(path[0]);
  throw new RepriseError('invalid_definition', `invalid option "${name}" of a model`, {
    where: [`${where} options.${name}`, ...path.slice(1).map(String)].join('.'),
    expected: expectedIn(message),
    actual: kindOfThing(plain[name as keyof typeof plain]),
  });
}

/** Stores the options: the provider's own fields become content behind links. */
export async function storeModelChoices(content: ContentStore, choices: ModelChoices): Promise<ModelOptions> {
  const { provider, responseFormat, ...plain } = choices;
  return {
    ...recorded(plain),
    ...(provider === undefined ? {} : { provider_options_ref: await putValue(content, provider) }),
    ...(responseFormat === undefined ? {} : { response_format_ref: await putValue(content, responseFormat) }),
  };
}

const FIELDS = {
  maxTokens: 'max_tokens',
  temperature: 'temperature',
  toolChoice: 'tool_choice',
  reasoningEffort: 'reasoning_effort',
  stop: 'stop_sequences',
  metadata: 'metadata',
} as const satisfies Record<keyof Omit<ModelChoices, 'provider' | 'responseFormat'>, keyof ModelOptions>;

function recorded(plain: Omit<ModelChoices, 'provider' | 'responseFormat'>): ModelOptions {
  const said = Object.entries(plain).filter(([name, choice]) => choice !== undefined && Object.hasOwn(FIELDS, name));
  return Object.fromEntries(
    said.map(([name, choice]) => [FIELDS[name as keyof typeof FIELDS], choice]),
  ) as ModelOptions;
}
