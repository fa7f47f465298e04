/** Pure code that travels with a world: bundling it, recording it, executing it where the app is not at hand. */

export type { PureCode, Sandbox } from '@reprise/kernel';
export {
  bundlePureCode,
  pureCode,
  type SandboxOptions,
  sandbox,
} from '@reprise/sandbox';
