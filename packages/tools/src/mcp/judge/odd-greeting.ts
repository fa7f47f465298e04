/** The answer with which a server introduces itself: nothing of it is needed but the revision of its protocol. */
import { isObject, kindOf } from './read-json.js';

type Json = Readonly<Record<string, unknown>>;

/** The capabilities that the MCP package reads, each of them an object. */
const CAPABILITIES = ['logging', 'completions', 'prompts', 'resources', 'tools'];

/**
 * The result of `initialize` or `server/discover` as the MCP package accepts it, or the reason why it is refused. Tools
 * are requested, and changes of them heard, even from a server that announces neither.
 *
 * @param offered the revision that the client offered; undefined for `server/discover`
 */
export function usableGreeting(result: unknown, offered: unknown, odd: (what: string) => void): Json | string {
  if (!isObject(result)) return `its result is ${kindOf(result)}`;
  const { instructions, capabilities } = result;
  if (!isObject(capabilities)) odd(`its capabilities are ${kindOf(capabilities)}; it is asked for tools all the same`);
  if (instructions !== undefined && typeof instructions !== 'string')
    odd(`its instructions are ${kindOf(instructions)} and are ignored`);
  const named = isObject(capabilities) ? capabilities : {};
  return {
    ...(offered === undefined ? discovery(result) : greeting(result, offered, odd)),
    capabilities: usableCapabilities(named, offered !== undefined),
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(isObject(result._meta) ? { _meta: result._meta } : {}),
  };
}

function greeting({ protocolVersion, serverInfo }: Json, offered: unknown, odd: (what: string) => void): Json {
  const isNamed = typeof protocolVersion === 'string';
  if (!isNamed) odd(`the revision of its protocol is ${kindOf(protocolVersion)} and is taken to be ${String(offered)}`);
  const { name, version } = isObject(serverInfo) ? serverInfo : {};
  return {
    protocolVersion: isNamed ? protocolVersion : offered,
    serverInfo: {
      name: typeof name === 'string' ? name : 'unnamed',
      version: typeof version === 'string' ? version : '0',
    },
  };
}

function discovery({ supportedVersions, resultType, ttlMs, cacheScope }: Json): Json {
  if (!Array.isArray(supportedVersions)) return { supportedVersions, resultType, ttlMs, cacheScope };
  const versions = supportedVersions.filter((one) => typeof one === 'string');
  return { supportedVersions: versions, resultType: resultType ?? 'complete', ttlMs, cacheScope };
}

/** @param hears whether changes of tools are heard without being announced */
function usableCapabilities(given: Json, hears: boolean): Json {
  const kept = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    if (!CAPABILITIES.includes(name) || value === null || value === undefined || value === false) return [];
    return [[name, isObject(value) ? usableFlags(value) : {}]];
  });
  const capabilities: Json = Object.fromEntries(kept);
  const tools = isObject(capabilities.tools) ? capabilities.tools : {};
  return { ...capabilities, tools: hears ? { ...tools, listChanged: true } : tools };
}

function usableFlags(capability: Json): Json {
  const flags = Object.entries(capability).filter(([, value]) => typeof value === 'boolean');
  return Object.fromEntries(flags);
}
