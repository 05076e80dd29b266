export { eventSearch } from './builder.ts';
export type {
  AnyEventSearch,
  EventSearch,
  SearchPart,
  SequenceChoice,
  TemplateChoice,
} from './builder-types.ts';
export { formatEventSearch } from './format.ts';
export { parseEventSearch } from './parse.ts';
export {
  ANY,
  type EventSearchTree,
  type FromTerm,
  type NamedTerm,
  type OperatorName,
  type ToTerm,
} from './tree.ts';
