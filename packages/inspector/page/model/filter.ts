import type { DeliverySummary } from '@call-webhooks/simulator/control-api';

/** How many deliveries are looked at: the latest that match. */
export const WINDOW = 200;

/** Which deliveries are shown. What is left out matches all. */
export type Filter = Readonly<{
  [Name in 'state' | 'eventName' | 'ruleId' | 'callId']?: DeliverySummary[Name] | undefined;
}>;

export const matches = (filter: Filter, delivery: DeliverySummary): boolean =>
  (Object.keys(filter) as (keyof Filter)[]).every(
    (name) => filter[name] === undefined || filter[name] === delivery[name],
  );

export const isFiltered = (filter: Filter): boolean =>
  (Object.values(filter) as unknown[]).some((value) => value !== undefined);
