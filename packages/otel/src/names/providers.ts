/** The provider of a model call, by the well-known names of the conventions where one of them applies. */
import type { AskedModel } from '@reprise/contracts';
import { NO_PROVIDER } from './conventions.js';

/** By the host name of the server, or its end: whom it was really asked of, whatever format it speaks. */
const BY_SERVER: readonly (readonly [end: string, provider: string])[] = [
  ['api.openai.com', 'openai'],
  ['openai.azure.com', 'azure.ai.openai'],
  ['inference.ai.azure.com', 'azure.ai.inference'],
  ['api.anthropic.com', 'anthropic'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['api.cohere.com', 'cohere'],
  ['api.deepseek.com', 'deepseek'],
  ['api.groq.com', 'groq'],
  ['api.mistral.ai', 'mistral_ai'],
  ['api.moonshot.ai', 'moonshot_ai'],
  ['api.perplexity.ai', 'perplexity'],
  ['api.x.ai', 'x_ai'],
];

/** By the beginning of the name that a client gives its provider, such as `google.generative-ai`. */
const BY_NAME: Readonly<Record<string, string>> = {
  'amazon-bedrock': 'aws.bedrock',
  azure: 'azure.ai.openai',
  google: 'gcp.gemini',
  'google.vertex': 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
};

/** Names that the conventions have, and that a client may give with a part behind a dot, such as `openai.chat`. */
const ALIKE: readonly string[] = ['openai', 'anthropic', 'cohere', 'deepseek', 'groq', 'perplexity'];

/** The provider of a call, as `gen_ai.provider.name` says it; `reprise` for one that reached no model. */
export function providerOf(asked: AskedModel | undefined): string {
  if (asked === undefined) return NO_PROVIDER;
  const { server = '', provider, profile } = asked;
  const known = BY_SERVER.find(([end]) => server === end || server.endsWith(`.${end}`) || server.endsWith(`-${end}`));
  if (known !== undefined) return known[1];
  if (provider === undefined) return profile;
  const [first = provider, second] = provider.split('.');
  return BY_NAME[`${first}.${second}`] ?? BY_NAME[first] ?? (ALIKE.includes(first) ? first : provider);
}
