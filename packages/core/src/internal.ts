// For the packages of this project alone, all of one version: it may change in any release.
export { checkOptions, option, type OptionRule } from './check-options.ts';
export { docsUrl } from './errors.ts';
export { DEFAULT_FIELD_NAMES } from './events/call-details.ts';
export { FieldFit, type Misfit } from './events/field-fit.ts';
export { fieldNameProblems, fieldNamesRule } from './events/field-names.ts';
export type { Delivery } from './delivery.ts';
export { EVENT_SCHEMAS } from './events/events.ts';
export { withoutOptions } from './options.ts';
export { alreadyParsed, isBytes } from './http/request.ts';
export {
  isFetchRequest,
  isNodeResponse,
  isOfServer,
  read,
  wrongArgument,
} from './http/wrong-argument.ts';
export { isoTime } from './iso-time.ts';
export { DELIVERY_SOURCES, outcomeNamedIn } from './outcomes.ts';
export { claimIdOf, newWebhookId } from './sender.ts';
export { STATUS, THROWN_ERRORS } from './outcome-table.ts';
export { readiness, type ReadyResponse } from './ready.ts';
export { createReceiverOnFirstUse } from './receiver.ts';
export type {
  DeliveryMessage,
  EnqueueMessage,
  HandlerMessage,
  OutcomeMessage,
  StoreMessage,
} from './report/channels.ts';
export { loggedError, loggedFailure, shortFrames } from './report/error-text.ts';
export { consoleLine, LineLimit, requestLogger, safeLogger } from './report/logger.ts';
export { callHook } from './report/hooks.ts';
export { createRedactor, redactEventName, redactId, withRedactedIds } from './report/redact.ts';
export { looksLikeField, printable } from './report/visible.ts';
export {
  CALLS_VARIABLE,
  type FileSecret,
  isAssignment,
  RECORDING_VARIABLE,
  type SecretLine,
  secretLines,
} from './signature/secret-file.ts';
export { secretTexts, splitSecrets } from './signature/secrets.ts';
export { sha256, tenantKey } from './store/keys.ts';
export { durationPercentile } from './store/outcome-log.ts';
export { keepRenewed, type RenewedLease } from './store/renewal.ts';
export { ownTimer, RELEASE_MS, waitAtMost } from './time.ts';
