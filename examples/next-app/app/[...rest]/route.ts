// Responds 503 on unknown paths. Next's own 404 would pause the rule at once.
export const POST = () => new Response(null, { status: 503 });
