/** Agents that are programs of their own, as sessions, and the model that they have in place of one. */
export { relay } from '@reprise/providers';
export {
  type ExternalAgentOptions,
  externalAgent,
  type Serve,
} from '@reprise/tools/external';
