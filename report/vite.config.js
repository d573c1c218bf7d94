import { createHash } from "node:crypto";
import { defineConfig } from "vite";

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// One file: the script and the style are put into the page, and a policy that allows these two by their hashes and
// nothing else. So no text of a result can run, and the page asks no network.
function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const script = files.find((f) => f.type === "chunk").code.replaceAll("</script", "<\\/script").trim();
      const style = String(files.find((f) => f.fileName.endsWith(".css")).source).trim();
      const page = files.find((f) => f.fileName === "index.html");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace(/<meta charset="utf-8" \/>/, (tag) => `${tag}\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
        .replace("</head>", () => `  <style>${style}</style>\n  </head>`)
        .replace("</body>", () => `  <script type="module">${script}</script>\n  </body>`);
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: "asset", fileName: "page.html", source: html });
    },
  };
}

export default defineConfig({
  build: { target: "es2022", cssCodeSplit: false, modulePreload: false, reportCompressedSize: false },
  plugins: [oneFile()],
});
