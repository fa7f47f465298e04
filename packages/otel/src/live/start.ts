/** The telemetry of an open world, as its owner asks for it. */
import {
  type ArgumentCheck,
  aFunction,
  checkOf,
  isFields,
  isFilled,
  isFunction,
  isObject,
  type KnownOptions,
  requireKnownOptions,
  requireMethods,
} from '@reprise/contracts';
import { type SdkExporter, SdkSink } from '../otlp/sdk.js';
import { addressOf, type OtlpOptions, OtlpSink } from '../otlp/send.js';
import { cursorFile } from './cursor.js';
import { Telemetry, type TelemetryParts } from './telemetry.js';

/** How the spans of a world are sent while it runs: to a collector, or by an exporter of OpenTelemetry. */
export interface TelemetryOptions extends Partial<Pick<OtlpOptions, 'url' | 'headers' | 'service'>> {
  /** An exporter of OpenTelemetry, in place of `url`. It stays the owner's: the world does not shut it down. */
  readonly exporter?: SdkExporter;
  /**
   * Whether spans hold what was said to models and tools, and what they answered, without the known secrets of the world;
   * false when absent.
   */
  readonly content?: boolean;
  /** Whether metrics are sent to `url` as well; false when absent. */
  readonly metrics?: boolean;
  /** The file that says how far spans were sent; one in the user's cache folder when absent. Each world has its own. */
  readonly cursor?: string;
  /** Hears of what could not be sent; it is sent again. Each kind of error is written once on standard error when absent. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS: KnownOptions<TelemetryOptions> = {
  url: true,
  headers: true,
  service: true,
  exporter: true,
  content: true,
  metrics: true,
  cursor: true,
  onError: aFunction,
};

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of telemetry');

/**
 * Refuses options that could not work.
 *
 * @throws RepriseError `invalid_argument`
 */
function requireTelemetry(options: TelemetryOptions): void {
  require(isObject(options), 'telemetry', 'an object with url or exporter', typeof options);
  requireKnownOptions(options, OPTIONS, 'telemetry');
  const { url, exporter, headers, cursor, content, metrics, service } = options;
  require((url === undefined) !== (exporter === undefined), 'telemetry', 'one of url and exporter', Object.keys(
    options,
  ));
  require(url === undefined || isFilled(url), 'telemetry.url', 'the address of a collector', typeof url);
  if (typeof url === 'string') addressOf(url, 'traces');
  const isExporter = exporter === undefined || (isObject(exporter) && isFunction(exporter.export));
  require(isExporter, 'telemetry.exporter', 'an exporter of OpenTelemetry: export, shutdown', typeof exporter);
  require(headers === undefined || isFields(headers), 'telemetry.headers', 'texts by their names', typeof headers);
  require(cursor === undefined || isFilled(cursor), 'telemetry.cursor', 'the path of a file', cursor);
  require(service === undefined || isFilled(service), 'telemetry.service', 'a name', service);
  for (const [where, one] of Object.entries({ content, metrics }))
    require(one === undefined || typeof one === 'boolean', `telemetry.${where}`, 'true or false', one);
  require(metrics !== true || url !== undefined, 'telemetry.metrics', 'url: an exporter takes spans only', metrics);
}

/**
 * Sends the spans of an open world from where the last process stopped, behind its commits.
 *
 * @returns a function that sends what has ended by then, for at most five seconds, and stops
 * @throws RepriseError `invalid_argument`
 */
export async function startTelemetry(
  world: TelemetryParts['world'],
  options: TelemetryOptions,
): Promise<() => Promise<void>> {
  requireMethods(world, ['frames'], 'startTelemetry(world)', 'an open kernel world, such as world.kernel');
  requireTelemetry(options);
  const { url, exporter, headers = {}, service, content = false, metrics = false, cursor, onError } = options;
  const named = service === undefined ? {} : { service };
  const otlp = url === undefined ? undefined : new OtlpSink({ url, headers, ...named });
  const sink = exporter === undefined ? otlp : new SdkSink(exporter, service);
  if (sink === undefined) throw new TypeError('telemetry without url and exporter'); // refused above
  const telemetry = new Telemetry({
    ...{ world, sink, content, cursor: cursorFile(world.id, cursor), onError: onError ?? (() => undefined), service },
    metrics: metrics ? (json) => otlp?.metrics(json) ?? Promise.resolve() : undefined,
  });
  await telemetry.start();
  return () => telemetry.stop();
}
