/** Refuses what is no model client, where callers may be untyped. */
import { fieldsOf, isFields, isFunction, requireArgument } from '@reprise/contracts';
import type { ModelClient } from './model.js';

/** @throws RepriseError `invalid_argument` when it is not a client of a model */
export function requireClient(thing: unknown, call: string, name = 'model'): asserts thing is ModelClient {
  const { profile, generate, server } = fieldsOf(thing);
  const fits = isFields(profile) && isFunction(generate) && (server === undefined || typeof server === 'string');
  requireArgument(fits, `${call}(${name})`, 'a model from reprise/providers, such as openAiCompatible({ … })', thing);
}

/** Refuses what are no clients by alias. @throws RepriseError `invalid_argument` */
export function requireClients(models: unknown, call: string): void {
  requireArgument(
    isFields(models),
    `${call}(models)`,
    'models by alias, such as { main: openAiCompatible({ … }) }',
    models,
  );
  for (const [alias, client] of Object.entries(models)) requireClient(client, call, `models.${alias}`);
}
