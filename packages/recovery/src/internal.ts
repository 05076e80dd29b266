// For the packages of this project alone, all of one version: it may change in any release.
export { knowsNothing, nothingReconciled } from './cursor.ts';
export { bodyMatcher, contentOf, isShortNumber } from './dead-letters/contains.ts';
export { causeOfRow, withoutPrefix } from './dead-letters/failed-rows.ts';
export { maskedFieldName } from './dead-letters/masked-body.ts';
export { pagesOf } from './dead-letters/pages.ts';
export { nothingErased } from './erase/erase.ts';
export { inParallel } from './in-parallel.ts';
export { keepLease } from './lease.ts';
export { explainMissed, type MissedAt, type MissReason } from './miss-reasons.ts';
export { missReasonText } from './miss-reason-text.ts';
export { nothingRedriven } from './redrive.ts';
export { type AttentionGroup, groupedAttention } from './status/attention-groups.ts';
export { CHECK_EVENT } from './status/checks.ts';
export { saveCovered } from './status/covered.ts';
export { statusOfTenant } from './status/of-tenant.ts';
export { persistently, type Persistence } from './store-calls.ts';
