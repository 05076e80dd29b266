import { defineHandlers, type HandlerContext } from '@call-webhooks/express';
import type { Pool } from 'pg';

type Columns = { started?: boolean; ended_at?: Date | null; recording_url?: string | null };

/**
 * One row for each call, whatever the order of its events. The row and the receiver's mark are committed
 * together, so each effect happens exactly once.
 */
export function handlersFor(pool: Pool) {
  async function save(
    callId: string | null | undefined,
    columns: Columns,
    context: HandlerContext,
  ) {
    // To throw would pause the rule: no retry adds the id, and without it the receiver can't count them.
    if (!callId) {
      context.log.error('The event has no callId, so its call is unknown.');
      return;
    }
    const names = Object.keys(columns);
    const places = names.map((_, index) => `$${index + 2}`);
    const updates = names.map((name) => `${name} = coalesce(excluded.${name}, calls.${name})`);
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO calls (id, ${names.join(', ')}) VALUES ($1, ${places.join(', ')})
         ON CONFLICT (id) DO UPDATE SET ${updates.join(', ')}`,
        [callId, ...Object.values(columns)],
      );
      await context.completeIn(client);
      await client.query('COMMIT');
      client.release();
    } catch (error) {
      await client.query('ROLLBACK').then(
        () => client.release(),
        () => client.release(true), // the connection is lost
      );
      throw error;
    }
    context.log.info({ callId }, 'call saved');
  }

  return defineHandlers({
    'call:started': (event, context) => save(event.callId, { started: true }, context),
    'call:completed': (event, context) =>
      // The service does not document the field behind call.endedAt: see "Field names" in the docs.
      save(event.callId, { ended_at: context.call.endedAt ?? null }, context),
    'call:recording-available': (event, context) =>
      save(event.callId, { recording_url: event.recordingUrl ?? null }, context),
  });
}
