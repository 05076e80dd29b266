export default function Page() {
  return (
    <main>
      <h1>Call webhooks</h1>
      <p>
        App Router: POST to <code>/hook</code>. Pages Router: POST to <code>/api/hook</code>.
      </p>
    </main>
  );
}
