import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.rest.server.FifoMemoryPagingProvider;
import ca.uhn.fhir.rest.server.RestfulServer;
import ca.uhn.fhir.rest.server.provider.HashMapResourceProvider;
import java.net.InetSocketAddress;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.hl7.fhir.r4.model.Patient;

/** Serves 47 patients from memory with HAPI FHIR, ten per page, at /r4. */
class FhirServer {
  public static void main(String[] args) throws Exception {
    FhirContext context = FhirContext.forR4();
    HashMapResourceProvider<Patient> patients = new HashMapResourceProvider<>(context, Patient.class);
    for (int n = 1; n <= 47; n++) {
      Patient patient = new Patient();
      patient.setId(String.valueOf(n));
      patient.addName().setFamily("é \"" + n + "\"");
      patient.setActive(n % 2 == 0);
      patients.store(patient);
    }
    RestfulServer fhir = new RestfulServer(context);
    fhir.registerProvider(patients);
    fhir.setPagingProvider(new FifoMemoryPagingProvider(100).setDefaultPageSize(10).setMaximumPageSize(10));
    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    ServletContextHandler root = new ServletContextHandler("/");
    root.addServlet(new ServletHolder(fhir), "/r4/*");
    server.setHandler(root);
    server.start();
  }
}
