import { render } from "preact";
import { embedded } from "./data/embedded";
import { Recording } from "./data/recording";
import "./theme/tokens.css";
import "./theme/waitClasses.gen.css";
import "./theme/base.css";
import "./theme/print.css";
import { App } from "./views/App";
import { preparePrinting } from "./views/print";

const root = document.getElementById("root");

async function start(): Promise<void> {
  if (root === null) return;
  preparePrinting();
  try {
    const { page, text } = embedded(document);
    const recording = await Recording.open(page, text);
    render(<App recording={recording} />, root);
  } catch (error) {
    // A page that was cut off on its way says so, instead of staying white.
    root.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : error}`;
  }
}

start();
