// The built page in a real browser, from files, with the network off. scripts/ui.sh runs it.
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "tests/browser",
  testMatch: "*.browser.ts",
  outputDir: "../target/ui/results",
  fullyParallel: true,
  workers: 2,
  timeout: 30_000,
  use: {
    // Debian's own: nothing is downloaded.
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" },
    offline: true,
    viewport: { width: 1280, height: 800 },
  },
});
