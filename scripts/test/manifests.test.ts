/**
 * The manifests that pages show for the processes of a fleet: parsed, and checked against the fields that they use, with
 * each other and with the program beside them. No cluster and no systemd runs here.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { ROOT } from '../lib/root.mjs';

const PAGE = 'docs/how-to/run-a-fleet.md';
const page = readFileSync(path.join(ROOT, PAGE), 'utf8');

/** The blocks of a page in one language. */
function blocksOf(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block]) => block ?? '',
  );
}

const labels = z.strictObject({ app: z.string() });
const metadata = z.strictObject({ name: z.string() });
const selector = z.strictObject({ matchLabels: labels });
const port = z.int().min(1).max(65_535);
const variable = z.union([
  z.strictObject({
    name: z.string(),
    valueFrom: z.strictObject({ fieldRef: z.strictObject({ fieldPath: z.literal('status.podIP') }) }),
  }),
  z.strictObject({ name: z.string(), value: z.string() }),
]);
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  env: z.array(variable),
  envFrom: z.array(z.strictObject({ secretRef: metadata })),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: port })),
  readinessProbe: z.strictObject({ httpGet: z.strictObject({ path: z.string().startsWith('/'), port: z.string() }) }),
  lifecycle: z.strictObject({
    preStop: z.strictObject({ exec: z.strictObject({ command: z.tuple([z.literal('sleep'), z.string()]) }) }),
  }),
});
const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.int().min(1),
    selector,
    strategy: z.strictObject({
      rollingUpdate: z.strictObject({ maxUnavailable: z.int().min(0), maxSurge: z.int().min(0) }),
    }),
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({ terminationGracePeriodSeconds: z.int().min(1), containers: z.tuple([container]) }),
    }),
  }),
});
const networkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata,
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.tuple([z.literal('Ingress')]),
    ingress: z.array(
      z.strictObject({
        from: z.array(z.strictObject({ podSelector: selector })).optional(),
        ports: z.array(z.strictObject({ port })),
      }),
    ),
  }),
});

/** The sections of a unit of systemd. */
function unitOf(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current = new Map<string, string>();
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, section] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (section !== undefined) {
      current = new Map();
      sections.set(section, current);
      continue;
    }
    const [, key, value] = /^([A-Z]\w+)=(.+)$/.exec(line) ?? [];
    if (key === undefined || value === undefined || current.has(key)) throw new Error(`not a line of a unit: ${line}`);
    current.set(key, value);
  }
  return sections;
}

/** Fields of a unit that the page may use. */
const UNIT: Readonly<Record<string, readonly string[]>> = {
  Unit: ['Description', 'After', 'Wants', 'StartLimitIntervalSec'],
  Service: ['ExecStart', 'EnvironmentFile', 'KillSignal', 'TimeoutStopSec', 'Restart', 'RestartSec'],
  Install: ['WantedBy'],
};

/** The seconds that a process of the page takes to end at most: its door, and twice what `close` waits `within`. */
function secondsToEnd(text: string): number {
  const [, door] = /pause\(([\d_]+), undefined/.exec(text) ?? [];
  const [, within] = /fleet\.close\(\{ within: ([\d_]+) \}\)/.exec(text) ?? [];
  const ms = (digits = ''): number => Number(digits.replaceAll('_', ''));
  return (ms(door) + 2 * ms(within)) / 1_000;
}

/** What is wrong with the manifests of a page. */
function wrongs(text: string): readonly string[] {
  const found: string[] = [];
  const [yaml = ''] = blocksOf(text, 'yaml');
  const documents = parseAllDocuments(yaml, { strict: true, uniqueKeys: true });
  for (const { errors } of documents) found.push(...errors.map(({ message }) => message));
  const [first, second] = documents.map((document) => document.toJS() as unknown);
  const [pods, network] = [deployment.safeParse(first), networkPolicy.safeParse(second)];
  for (const { error } of [pods, network]) if (error !== undefined) found.push(z.prettifyError(error));
  if (pods.data !== undefined && network.data !== undefined)
    found.push(...disagreements(pods.data, network.data, secondsToEnd(text)));
  return [...found, ...wrongsOfUnit(text)];
}

function disagreements(
  pods: z.infer<typeof deployment>,
  network: z.infer<typeof networkPolicy>,
  seconds: number,
): readonly string[] {
  const { template, selector: chosen } = pods.spec;
  const [{ env, ports, readinessProbe, lifecycle }] = template.spec.containers;
  const portOf = (name: string): number | undefined => ports.find((one) => one.name === name)?.containerPort;
  const address = env.find(({ name }) => name === 'FLEET_ADDRESS');
  const own = JSON.stringify(template.metadata.labels);
  const isOwn = ({ matchLabels }: z.infer<typeof selector>): boolean => JSON.stringify(matchLabels) === own;
  const inside = network.spec.ingress.filter(({ from }) => from?.every(({ podSelector }) => isOwn(podSelector)));
  const outside = network.spec.ingress.filter(({ from }) => from === undefined);
  const stops = Number(lifecycle.preStop.exec.command[1]) + seconds;
  const checks: readonly (readonly [boolean, string])[] = [
    [isOwn(chosen) && isOwn(network.spec.podSelector), 'the selectors name other labels than the pods have'],
    [
      address !== undefined && 'value' in address && address.value === `http://$(POD_IP):${portOf('fleet')}`,
      'FLEET_ADDRESS is not the port of the fleet',
    ],
    [
      env.findIndex(({ name }) => name === 'POD_IP') < env.findIndex(({ name }) => name === 'FLEET_ADDRESS'),
      'a variable is used before it is set',
    ],
    [portOf(readinessProbe.httpGet.port) !== undefined, 'the probe asks a port that the container has not'],
    [template.spec.terminationGracePeriodSeconds >= stops, `a pod needs ${stops} s to end`],
    [
      inside.length === 1 && inside[0]?.ports[0]?.port === portOf('fleet'),
      'the port of the fleet is not for its pods alone',
    ],
    [outside.every((rule) => rule.ports.every((one) => one.port === portOf('web'))), 'others reach more than the web'],
  ];
  return checks.filter(([holds]) => !holds).map(([, what]) => what);
}

function wrongsOfUnit(text: string): readonly string[] {
  const [ini = ''] = blocksOf(text, 'ini');
  const unit = unitOf(ini);
  const found = [...unit].flatMap(([section, fields]) =>
    [...fields.keys()].filter((key) => !UNIT[section]?.includes(key)).map((key) => `[${section}] has no ${key}`),
  );
  const seconds = secondsToEnd(text);
  const stops = Number(unit.get('Service')?.get('TimeoutStopSec'));
  if (!(stops >= seconds)) found.push(`a process needs ${seconds} s to end, and systemd kills it after ${stops}`);
  if (unit.get('Unit')?.get('StartLimitIntervalSec') !== '0') found.push('five starts in a row end the unit');
  return found;
}

describe('the manifests of a fleet', () => {
  it('those of the page have the fields of their kinds, and agree with each other and with the program', () => {
    expect(secondsToEnd(page)).toBeGreaterThan(20);
    expect(wrongs(page)).toEqual([]);
  });

  const MUTANTS: readonly (readonly [what: string, from: string, to: string])[] = [
    ['a field that is not there', 'replicas: 3', 'replica: 3'],
    ['a port of a fleet that differs', 'containerPort: 7070', 'containerPort: 7071'],
    [
      'a port of the fleet that is open to all',
      '    - from: [{ podSelector: { matchLabels: { app: shops } } }]\n      ports',
      '    - ports',
    ],
    [
      'a selector of other pods',
      'selector: { matchLabels: { app: shops } }',
      'selector: { matchLabels: { app: shop } }',
    ],
    ['too little time to end', 'terminationGracePeriodSeconds: 60', 'terminationGracePeriodSeconds: 30'],
    ['too little time to end, with systemd', 'TimeoutStopSec=60', 'TimeoutStopSec=40'],
    ['a unit that gives up', 'StartLimitIntervalSec=0\n', ''],
  ];
  for (const [what, from, to] of MUTANTS)
    it(`mutant: ${what} is found`, () => {
      expect(page).toContain(from);
      expect(wrongs(page.replace(from, to))).not.toEqual([]);
    });
});
