/** Programs as nodes of trees, and files as results: for Node. */
export {
  askOwner,
  type Bridge,
  bridge,
  claude,
  codex,
  files,
  hasOwner,
  isProgramHere,
  type OwnerSaid,
  opencode,
  type PeopleDoor,
  peopleDoor,
  program,
} from '@reprise/tree/serve';
