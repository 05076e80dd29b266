export const dynamic = 'force-dynamic';

/** Whether the process runs. */
export const GET = () => Response.json({ ok: true });
