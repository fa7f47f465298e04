/** opencode, a CLI agent that this project did not write, whose model is a server on this machine. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { installed } from './registry.js';

const { platform, arch } = process;

/**
 * Installs opencode, unless it is there (some 350 MB): the package of this platform, which `opencode-ai` would only put in
 * its place by a script.
 *
 * @returns the path of the program
 */
export function opencodeIn(home: string): string {
  const system = platform === 'win32' ? 'windows' : platform;
  const name = `opencode-${system}-${arch}`;
  installed(home, [`${name}@1.18.33`]);
  return path.join(home, 'node_modules', name, 'bin', system === 'windows' ? 'opencode.exe' : 'opencode');
}

/** Its environment: a home of its own, the model behind an address, and nothing that it fetches by itself. */
export function opencodeEnvironment(home: string, modelUrl: string, more: object = {}): Record<string, string> {
  mkdirSync(home, { recursive: true });
  const config = {
    $schema: 'https://opencode.ai/config.json',
    model: 'mock/mock-model',
    small_model: 'mock/mock-model',
    autoupdate: false,
    share: 'disabled',
    ...more,
    provider: {
      mock: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Mock',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
        models: { 'mock-model': { name: 'Mock', tool_call: true } },
      },
    },
  };
  const folders = ['CONFIG', 'DATA', 'CACHE', 'STATE'];
  return {
    HOME: home,
    ...Object.fromEntries(folders.map((kind) => [`XDG_${kind}_HOME`, path.join(home, kind.toLowerCase())])),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}
