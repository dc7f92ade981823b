import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const wsdl = `<definitions name="Rows" targetNamespace="urn:rows" xmlns="http://schemas.xmlsoap.org/wsdl/"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="urn:rows" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:rows" elementFormDefault="qualified">
    <xs:element name="getRows"><xs:complexType><xs:sequence><xs:element name="page" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="getRowsResponse"><xs:complexType><xs:sequence>
      <xs:element name="pages" type="xs:int"/>
      <xs:element name="rows"><xs:complexType><xs:sequence><xs:element name="row" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:element name="id" type="xs:int"/><xs:element name="text" type="xs:string"/>
      </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="getRowsIn"><part name="parameters" element="tns:getRows"/></message>
  <message name="getRowsOut"><part name="parameters" element="tns:getRowsResponse"/></message>
  <portType name="Port"><operation name="getRows"><input message="tns:getRowsIn"/><output message="tns:getRowsOut"/></operation></portType>
  <binding name="Binding" type="tns:Port"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="getRows"><soap:operation soapAction="urn:rows#getRows"/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
  </binding>
  <service name="Rows"><port name="Port" binding="tns:Binding"><soap:address location="http://127.0.0.1/rows"/></port></service>
</definitions>`;

/** 47 rows, ten per page. Page 99 is a fault. */
const program = `const soap = require('soap');
const getRows = ({ page }) => {
  if (page === 99) throw { Fault: { faultcode: 'soap:Client', faultstring: 'There is no page 99' } };
  const row = [];
  for (let id = page * 10 - 9; id <= Math.min(47, page * 10); id++) row.push({ id, text: 'é "' + id + '" <&>' });
  return { pages: 5, rows: { row } };
};
const server = require('http').createServer((request, response) => response.end());
server.listen(Number(process.argv[2]), '127.0.0.1');
soap.listen(server, '/rows', { Rows: { Port: { getRows } } }, require('fs').readFileSync(__dirname + '/rows.wsdl', 'utf8'));
`;

/** Starts a SOAP service made with node-soap, at \`/rows\`. */
export async function startSoap(): Promise<WebServer> {
  const folder = await npmProject('rest', { 'rows.wsdl': wsdl, 'server.cjs': program });
  const args = (port: number) => [join(folder, 'server.cjs'), String(port)];
  return startWebServer({ name: 'soap', program: process.execPath, args });
}
