/** What a session records of models: the price and the window. */
import type { ModelInfos } from '@reprise/agent';
import type { ModelClient } from '@reprise/providers';

/** What a world is told of its models. */
export function infosOf(models: Readonly<Record<string, ModelClient>>): ModelInfos {
  const infos = Object.entries(models).map(([alias, { profile }]) => {
    const { context_window_hint: contextWindow, price } = profile;
    const window = contextWindow === undefined ? {} : { contextWindow };
    return [alias, { ...window, ...(price === undefined ? {} : { price }) }] as const;
  });
  return Object.fromEntries(infos);
}
