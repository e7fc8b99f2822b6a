// A web server that puts its page together of components with each request ("each"), as one does that renders on the server
// what a browser could, or once, when it starts, and keeps it ("once").
//
// rendered.js PORT each|once

const http = require("node:http");

const [port, word] = process.argv.slice(2);
const PRODUCTS = 400;
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const products = Array.from({ length: PRODUCTS }, (_, number) => ({
  id: number,
  name: `Product <${number}> & more`,
  price: (number * 1.37).toFixed(2),
  tags: ["new", `shelf "${number % 7}"`],
}));

const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
const element = (type, props, ...children) => ({ type, props: props ?? {}, children: children.flat() });
const Tag = ({ text }) => element("li", { class: "tag" }, text);
const Price = ({ value }) => element("span", { class: "price", title: `${value} EUR` }, value);
const Product = ({ id, name, price, tags }) =>
  element(
    "article",
    { id: `product-${id}`, class: "product" },
    element("h2", null, name),
    element(Price, { value: price }),
    element("ul", null, tags.map((text) => element(Tag, { text }))),
  );
const Page = () => element("main", null, products.map((product) => element(Product, product)));

function render(node) {
  if (typeof node !== "object") {
    return escape(node);
  }
  if (typeof node.type === "function") {
    return render(node.type(node.props));
  }
  const props = Object.entries(node.props).map(([name, value]) => ` ${name}="${escape(value)}"`);
  return `<${node.type}${props.join("")}>${node.children.map(render).join("")}</${node.type}>`;
}

const kept = render(element(Page));
let visits = 0;

http
  .createServer((_, response) => {
    const page = word === "each" ? render(element(Page)) : kept;
    visits += 1;
    const text = `${visits} ${page.length}\n`;
    response.setHeader("Content-Length", text.length);
    response.end(text);
  })
  .listen(Number(port), "127.0.0.1");
