/**
 * Where a delivery comes from: the service's request, a queue's worker, a redriven dead letter, or
 * the reconciliation of calls that were missed.
 */
export type DeliverySource = 'webhook' | 'queue' | 'redrive' | 'reconcile';
