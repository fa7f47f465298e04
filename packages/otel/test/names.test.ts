/** The names of the conventions, beside the package that publishes them, and those of the wire beside the packages that own them. */

import * as published from '@opentelemetry/semantic-conventions/incubating';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { JOB } from '@reprise/org/contracts';
import { ENTITY, SWARM } from '@reprise/society/contracts';
import { PROJECT } from '@reprise/specialists/contracts';
import { nodeCalls, TREE } from '@reprise/tree/contracts';
import { describe, expect, it } from 'vitest';
import {
  ATTRIBUTES,
  CONVENTIONS,
  METRICS,
  NEWER_ATTRIBUTES,
  NEWER_METRICS,
  NEWER_OPERATIONS,
  OPERATIONS,
} from '../src/names/conventions.js';
import { providerOf } from '../src/names/providers.js';
import { MAKING_CALLS, REDUCERS } from '../src/names/wire.js';

const known = Object.entries(published as Readonly<Record<string, unknown>>);
const valuesOf = (prefix: string): unknown[] =>
  known.flatMap(([name, value]) => (name.startsWith(prefix) ? [value] : []));

describe('the names of the conventions', () => {
  it('every name that is used is published under the entry /incubating, but for those that the pinned commit added', () => {
    const missing = (names: object, of: unknown[]) => Object.values(names).filter((name) => !of.includes(name));
    const attributes = valuesOf('ATTR_');
    const operations = valuesOf('GEN_AI_OPERATION_NAME_VALUE_');
    const metrics = valuesOf('METRIC_');
    expect(missing(ATTRIBUTES, attributes)).toEqual([]);
    expect(missing(OPERATIONS, operations)).toEqual([]);
    expect(missing(METRICS, metrics)).toEqual([]);
    // When the package has them, they move to the lists above.
    expect(missing(NEWER_ATTRIBUTES, attributes)).toEqual(Object.values(NEWER_ATTRIBUTES));
    expect(missing(NEWER_OPERATIONS, operations)).toEqual(Object.values(NEWER_OPERATIONS));
    expect(missing(NEWER_METRICS, metrics)).toEqual(Object.values(NEWER_METRICS));
  });

  it('the commit of the conventions is pinned', () => {
    expect(CONVENTIONS.genai).toMatch(/^[0-9a-f]{40}$/);
  });

  it('the names of reducers and of calls that make nodes are those of their packages', () => {
    expect(REDUCERS).toEqual({
      ...{ session: SESSION_REDUCER, job: JOB, tree: TREE, project: PROJECT, entity: ENTITY, swarm: SWARM },
    });
    expect(MAKING_CALLS.filter((name) => !(name in nodeCalls))).toEqual([]);
  });

  it('a provider has the well-known name of the conventions where one applies, and its own otherwise', () => {
    const wellKnown = valuesOf('GEN_AI_PROVIDER_NAME_VALUE_');
    const asked = (provider: string, server?: string) =>
      providerOf({ profile: 'p', model: 'm', provider, ...(server === undefined ? {} : { server }) });
    const applied = [
      asked('openai', 'api.openai.com'),
      asked('openai-compatible', 'api.deepseek.com'),
      asked('openai-compatible', 'my-resource.openai.azure.com'),
      asked('anthropic'),
      asked('google.generative-ai'),
      asked('google.vertex.chat', 'europe-west4-aiplatform.googleapis.com'),
      asked('amazon-bedrock'),
      asked('openai.responses'),
      asked('xai.chat'),
    ];
    expect(applied).toEqual([
      ...['openai', 'deepseek', 'azure.ai.openai', 'anthropic', 'gcp.gemini', 'gcp.vertex_ai', 'aws.bedrock'],
      ...['openai', 'x_ai'],
    ]);
    expect(applied.filter((name) => !wellKnown.includes(name))).toEqual([]);
    expect(asked('openai-compatible', 'localhost')).toBe('openai-compatible');
    expect(providerOf(undefined)).toBe('reprise');
  });
});
